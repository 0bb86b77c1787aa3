import type { WatchedChange } from "../../client/watched-loggers.ts";
import { LevelChange_Kind as Kind, type LevelChange } from "../../gen/actuator/v3/loggers_pb.ts";
import { isOfFleet } from "../components/fleet-mark.tsx";
import { Outside } from "../components/outside.tsx";
import { levelName, setLevel } from "../state/levels.ts";
import { onLoggersChange } from "../state/loggers.ts";
import { isOwn, ownRaise } from "../state/own-changes.ts";
import { link } from "../state/server.ts";
import { toast } from "../state/toasts.ts";

/** Long enough for the answer to an own change, and for the rest of a change of many. */
const WAIT_MS = 250;
const MAX_TOASTS = 3;

let known = 0n;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows what others do to levels as toasts. The watch says that something has changed, the history says who changed it. */
export function announceOthers(): void {
  onLoggersChange((change) => {
    if (change.isSnapshot || known === 0n) known = change.revision;
    else if (timer === undefined && isByOperator(change)) {
      timer = setTimeout(() => {
        timer = undefined;
        void tell();
      }, WAIT_MS);
    }
  });
}

function isByOperator({ loggers, groups, before }: WatchedChange): boolean {
  if (groups.size > 0) return true;
  for (const [name, { override, configuredLevel }] of loggers) {
    const old = before.get(name);
    if (override !== undefined || old?.override !== undefined || old?.configuredLevel !== configuredLevel) return true;
  }
  return false;
}

const TOLD: readonly Kind[] = [Kind.SET, Kind.CLEARED, Kind.RESTORED, Kind.VOLUME];

async function tell(): Promise<void> {
  const answer = await link.call("loggers", "listLevelChanges", { pageSize: 200 }).catch(() => undefined);
  if (answer === undefined) return;
  const since = known;
  known = answer.changes[0]?.revision ?? known;
  const changes = answer.changes.filter(
    ({ name, revision, kind, group }) =>
      revision > since && TOLD.includes(kind) && group === "" && (kind === Kind.VOLUME || !isOwn(name)),
  );
  // Newest first: of several changes of one logger, the last one counts.
  const told = changes.filter(({ name }, at) => changes.findIndex((other) => other.name === name) === at);
  const guarded = told.filter(({ kind }) => kind === Kind.VOLUME);
  for (const change of guarded.slice(0, MAX_TOASTS).reverse()) tellOne(change);
  const others = told.filter(({ kind }) => kind !== Kind.VOLUME);
  if (others.length > MAX_TOASTS) tellMany(others);
  else for (const change of others.reverse()) tellOne(change);
}

function tellOne(change: LevelChange): void {
  const { name, level, kind, override } = change;
  const raise = ownRaise(name);
  const logger = <Outside class="mono" text={name} />;
  if (kind === Kind.VOLUME) {
    const text = (
      <>
        {logger} wrote too much and was restored{to(level)}
      </>
    );
    toast({ icon: "ui-warning", tone: "warn", text });
    return;
  }
  const verb = kind === Kind.SET ? "set" : kind === Kind.CLEARED ? "cleared the level of" : "restored";
  toast({
    icon: "ui-user",
    text: (
      <>
        <Actor name={override?.actor} /> {verb} {logger}
        {isOfFleet(change) && " for the fleet"}
        {kind !== Kind.CLEARED && to(level)}
      </>
    ),
    action: raise && {
      label: "Raise again",
      run: () => void setLevel(name, raise.level, raise.lasting, raise.reason),
    },
  });
}

function tellMany(told: readonly LevelChange[]): void {
  const actors = [...new Set(told.map(({ override }) => override?.actor))];
  const kinds = new Set(told.map(({ kind }) => kind));
  const verb =
    kinds.size > 1 ? "changed" : kinds.has(Kind.SET) ? "set" : kinds.has(Kind.CLEARED) ? "cleared" : "restored";
  toast({
    icon: "ui-user",
    text: (
      <>
        {actors.length === 1 ? <Actor name={actors[0]} /> : "Operators"} {verb} {told.length} levels
      </>
    ),
  });
}

function to(level: LevelChange["level"]): string {
  return levelName(level) && ` to ${levelName(level)}`;
}

function Actor({ name }: { name: string | undefined }) {
  return <strong class="med">{name ? <Outside text={name} /> : "Another operator"}</strong>;
}
