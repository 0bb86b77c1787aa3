/** How the process is reached that keeps the fleet. */
export interface ServeFleetOptions {
  /** Its address, such as `http://10.0.0.7:9001`, with the path that the actuator is mounted under. */
  readonly url: string;
  /** Sent as a bearer token. It needs the permission `fleet:join`. */
  readonly token?: string | undefined;
  /** Certificates of authorities in PEM, trusted besides those of Node.js. */
  readonly ca?: string | undefined;
}
