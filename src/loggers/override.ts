/** Who put a level where it is, other than the application itself, when, why and until when. */
export interface Override {
  /** Milliseconds since the epoch. */
  readonly setTime: number;
  /** When it ends by itself, in milliseconds since the epoch; undefined: it stays. */
  readonly expireTime: number | undefined;
  /** Who asked for it, as far as the face that was asked knows; may be empty. */
  readonly actor: string;
  /** Why, in the words of who asked; may be empty. */
  readonly reason: string;
  /** The process that was asked. */
  readonly instance: string;
  /** Whether it ends as soon as who asked for it lets go. */
  readonly held?: boolean | undefined;
}
