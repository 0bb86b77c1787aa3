import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Session as SessionProto, SessionSchema } from "../../gen/actuator/v3/sessions_pb.ts";
import type { Session } from "../../sessions/session.ts";

/** What a `google.protobuf.Duration` can hold, in seconds: ten thousand years. Its JSON refuses more. */
const LONGEST_SECONDS = 315_576_000_000;

/** A session as RPC shows it. What its store does not know stays unset; nothing stands in for it. */
export function sessionToProto(session: Session): SessionProto {
  const { creationTime, lastAccessedTime, maxInactiveInterval } = session;
  return create(SessionSchema, {
    id: session.id,
    attributeNames: [...session.attributeNames],
    ...(creationTime !== undefined && { creationTime: timestampFromMs(creationTime) }),
    ...(lastAccessedTime !== undefined && { lastAccessedTime: timestampFromMs(lastAccessedTime) }),
    ...(maxInactiveInterval !== undefined && { maxInactiveInterval: { seconds: secondsOf(maxInactiveInterval) } }),
    expired: session.expired,
    username: session.username ?? "",
  });
}

function secondsOf(interval: number): bigint {
  return BigInt(Math.max(-LONGEST_SECONDS, Math.min(Math.floor(interval), LONGEST_SECONDS)));
}
