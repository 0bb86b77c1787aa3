import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { negotiate } from "../../../src/http/rest/negotiation.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";
import { JSON_TYPE, SV2, SV3, V3 } from "./overruled.ts";

const SV1 = "application/vnd.spring-boot.actuator.v1+json";
const BROWSER =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7";
const ALL = `${V3}, ${SV3}, ${SV2}, ${JSON_TYPE}`;

describe("Accept", () => {
  test.each<readonly [accept: string | undefined, type: string | undefined]>([
    [undefined, V3],
    ["", V3],
    ["  ", V3],
    [",", V3],
    [", ,", V3],
    ["*/*", V3],
    ["*", V3],
    ["text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", V3],
    [BROWSER, V3],
    ["application/*", V3],
    ["application/*+json", V3],
    ["application/*+json;q=0.5, application/json", JSON_TYPE],
    ["application/*+json, application/json;q=0.5", V3],
    ["application/json, text/plain, */*", V3],
    ["application/json, */*;q=0.5", JSON_TYPE],
    ["*/*;q=0.5, application/json", JSON_TYPE],
    ["application/json;q=0.5, */*", V3],
    [JSON_TYPE, JSON_TYPE],
    ["APPLICATION/JSON", JSON_TYPE],
    ["application/json,,", JSON_TYPE],
    [V3, V3],
    [SV3, SV3],
    [SV2, SV2],
    [`${SV3}, ${SV2}, ${SV1}, application/json`, SV3],
    [`${SV2}, ${SV3}`, SV3],
    [`application/json, ${SV2}`, SV2],
    [`${SV2};q=0.4, application/json;q=0.8`, JSON_TYPE],
    [`${V3};q=0, */*`, SV3],
    [`${V3};q=0, application/*+json;q=0.5, */*;q=0.1`, SV3],
    [`application/*+json;q=0, */*`, JSON_TYPE],
    ["application/*;q=0, */*", undefined],
    ["application/json;q=0", undefined],
    ["*/*;q=0", undefined],
    ["*/*;q=0.000", undefined],
    ["application/json;q=0.001", JSON_TYPE],
    ["application/json;q=1.000", JSON_TYPE],
    ["application/json ; Q=0.5", JSON_TYPE],
    ["application/json;q=0.5;ext=1", JSON_TYPE],
    ["text/plain", undefined],
    ["text/*", undefined],
    ["text/html", undefined],
    ["image/png", undefined],
    [SV1, undefined],
    ["application/xml, application/problem+json", undefined],
    ["garbage", undefined],
    ["application/json, garbage", undefined],
    ["application/", undefined],
    ["/json", undefined],
    ["*/json", undefined],
    ["application /json", undefined],
    ["application/json;q=abc", undefined],
    ["application/json;q=2", undefined],
    ["application/json;q=-1", undefined],
    ["application/json;q=", undefined],
    ["application/json;q=1.001", undefined],
    ["application/json;charset", undefined],
    ['application/json;a="b', undefined],
    ["application/json;charset=utf-8", "application/json;charset=utf-8"],
    ["application/json; Charset=UTF-8", "application/json;charset=UTF-8"],
    ["application/json;version=1", "application/json;version=1"],
    ["application/json;a=1;b=2;q=0.5", "application/json;a=1;b=2"],
    ['application/json;a="x,y;z\\""', 'application/json;a="x,y;z\\""'],
    ["application/json;a=1, application/json;a=2", "application/json;a=1"],
    ["application/json;a=1;q=0.5, application/json;a=2", "application/json;a=2"],
    ["application/json;", JSON_TYPE],
    [`${V3};charset=utf-8`, `${V3};charset=utf-8`],
    ["*/*;charset=utf-8", V3],
    ["application/json;charset=utf-8, */*;q=0.1", "application/json;charset=utf-8"],
    ["application/json;charset=utf-8;q=0.5, application/json", JSON_TYPE],
    ["application/json;charset=utf-8;q=0, application/json", JSON_TYPE],
  ])("%s is answered as %s", async (accept, type) => {
    const { get } = await serveRest();
    const answer = await get("/actuator/loggers/ROOT", accept === undefined ? {} : { Accept: accept });
    if (type !== undefined) {
      expect(answer).toMatchObject({ status: 200, headers: { "content-type": type } });
      return;
    }
    expect(answer).toMatchObject({ status: 406, headers: { "content-type": JSON_TYPE, accept: ALL } });
    expect(problemIn(answer)).toMatchObject({ status: 406, error: "Not Acceptable" });
  });

  test.each(["/actuator", "/actuator/health", "/actuator/info", "/actuator/loggers", "/actuator/integrationgraph"])(
    "is looked at by GET and HEAD of %s",
    async (path) => {
      const { get, send } = await serveRest();
      expect((await get(path, { Accept: JSON_TYPE })).headers["content-type"]).toBe(JSON_TYPE);
      expect((await get(path, { Accept: "text/plain" })).status).toBe(406);
      expect(await send({ method: "HEAD", path, headers: { Accept: "text/plain" } })).toMatchObject({
        status: 406,
        text: "",
      });
    },
  );

  test("is no reason to refuse POST, DELETE or OPTIONS", async () => {
    const { send } = await serveRest();
    const headers = { Accept: "image/png", "Content-Type": JSON_TYPE };
    const status = async (method: string, path: string) => (await send({ method, path, headers })).status;
    expect(await status("POST", "/actuator/loggers/a")).toBe(204);
    expect(await status("POST", "/actuator/integrationgraph")).toBe(204);
    expect(await status("DELETE", "/actuator/sessions/a")).toBe(204);
    expect(await status("OPTIONS", "/actuator/loggers")).toBe(200);
  });
});

describe("negotiation against a naive model", () => {
  interface Range {
    readonly name: string;
    readonly q: number | undefined;
  }

  const SERVED = [V3, SV3, SV2, JSON_TYPE];
  const name = fc.constantFrom("*/*", "application/*", "application/*+json", ...SERVED, "text/html", "text/*", SV1);
  const range = fc.record({ name, q: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }) });

  /** Written from the contract's sentence, as slowly as it reads. */
  function model(ranges: readonly Range[]): string | undefined {
    if (ranges.length === 0) return V3;
    const qualities = SERVED.map((type) => {
      const closest = [type, ...(type.endsWith("+json") ? ["application/*+json"] : []), "application/*", "*/*"].find(
        (candidate) => ranges.some((range) => range.name === candidate),
      );
      const weights = ranges.filter((range) => range.name === closest).map((range) => range.q ?? 10);
      return Math.max(0, ...weights);
    });
    const highest = Math.max(...qualities);
    return highest === 0 ? undefined : SERVED[qualities.indexOf(highest)];
  }

  const upperCase = (text: string) => text.toUpperCase();
  const asItIs = (text: string) => text;
  const spelling = fc.record({
    spell: fc.constantFrom(upperCase, asItIs),
    space: fc.constantFrom("", " ", "\t ", "  "),
    separator: fc.constantFrom(",", ", ", " ,", ",,", ", ,"),
  });

  test("any list of ranges in any spelling", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), spelling, (ranges, { spell, space, separator }) => {
        const elements = ranges.map(({ name, q }) => {
          return spell(name) + (q === undefined ? "" : `${space};${space}q=${(q / 10).toFixed(1)}`);
        });
        expect(negotiate(elements.join(separator))).toBe(model(ranges));
      }),
      { numRuns: 2000 },
    );
  });

  test("any text at all is answered as something or refused, never thrown at", () => {
    const fragment = fc.constantFrom(
      "application",
      "/",
      "json",
      "*",
      "+json",
      ";",
      "q",
      "=",
      "0",
      ".5",
      '"',
      "\\",
      ",",
      " ",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(fragment, { maxLength: 20 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (accept) => {
        const type = negotiate(accept);
        if (type !== undefined) expect(SERVED).toContain(type.split(";")[0]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("Content-Disposition", () => {
  const INLINE = "inline;filename=f.txt";
  test.each<readonly [segment: string, header: string | undefined]>([
    ["ROOT", undefined],
    ["web", undefined],
    ["com.example", INLINE],
    ["com.png", undefined],
    ["a.json", undefined],
    ...["txt", "text", "yml", "properties", "csv", "json", "xml", "atom", "rss"].map(
      (e) => [`x.${e}`, undefined] as const,
    ),
    ...["png", "jpe", "jpeg", "jpg", "gif", "wbmp", "bmp", "svg", "webp", "ico", "tif", "tiff"].map(
      (e) => [`x.${e}`, undefined] as const,
    ),
    ...["mp3", "mp4", "wav", "ogg", "webm", "xhtml"].map((e) => [`x.${e}`, undefined] as const),
    ...["bat", "zip", "html", "htm", "js", "exe", "sh", "xsl", "pdf", "one"].map((e) => [`x.${e}`, INLINE] as const),
    ["x.PNG", undefined],
    ["x.HTML", INLINE],
    ["x.", undefined],
    ["x..y", INLINE],
    ["x..png", undefined],
    [".a", INLINE],
    ["a.png.bat", INLINE],
    ["a.bat.png", undefined],
    ["x%2Ebat", INLINE],
    ["x.b%61t", INLINE],
    ["x.p%6Eg", undefined],
    ["x.y;z=1.html", INLINE],
    ["x;z=1.html", INLINE],
    ["x;z=1%2ehtml", INLINE],
    ["x.png;z=1.html", INLINE],
    ["x.png;z=1.txt", undefined],
    ["x.bat;z=1.txt", INLINE],
    ["x;z=1", undefined],
  ])("of %s is %s", async (segment, header) => {
    const { post, get, send } = await serveRest();
    const path = `/actuator/loggers/${segment}`;
    expect((await get(path)).headers["content-disposition"]).toBe(undefined);
    expect((await post(path, {})).headers["content-disposition"]).toBe(undefined);
    expect((await get(path)).headers["content-disposition"]).toBe(header);
    expect((await send({ method: "HEAD", path })).headers["content-disposition"]).toBe(header);
    expect((await post(path, "[]")).headers["content-disposition"]).toBe(undefined);
    expect((await get(path, { Accept: "text/plain" })).headers["content-disposition"]).toBe(undefined);
  });

  test("follows the same rule for groups", async () => {
    const { get } = await serveRest({ loggers: { groups: { "g.bat": ["a"], "g.png": ["a"], g: ["a"] } } });
    const header = async (name: string) => (await get(`/actuator/loggers/${name}`)).headers["content-disposition"];
    expect([await header("g.bat"), await header("g.png"), await header("g")]).toEqual([INLINE, undefined, undefined]);
  });
});
