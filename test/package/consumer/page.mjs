/** Prints how an actuator answers requests for its page and all that the page names. */
import { createActuator } from "connect-actuator";

const actuator = createActuator({ audit: false });
const { url } = await actuator.listen({ port: 0 });
const page = `${url}/actuator/ui/`;
const html = await (await fetch(page)).text();
const paths = Array.from(html.matchAll(/(?:src|href)="(\.\/[^"]+)"/g), ([, path]) => path);
const answers = await Promise.all([page, ...paths.map((path) => new URL(path, page))].map((each) => fetch(each)));
await actuator.close();
const all = (of) => [...new Set(answers.map(of))];
console.log(
  JSON.stringify({ statuses: all(({ status }) => status), types: all(({ headers }) => headers.get("content-type")) }),
);
