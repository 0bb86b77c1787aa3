import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { levelName } from "../state/levels.ts";
import { Icon } from "./icon.tsx";

/** A level with its shape and colour. */
export function LevelWord({ level }: { level: Level }) {
  const name = levelName(level);
  if (name === "") return <span class="t3">inherited</span>;
  return (
    <span class={`lw l-${name.toLowerCase()}`}>
      <Icon name={`l-${name.toLowerCase()}`} size={12} />
      {name}
    </span>
  );
}
