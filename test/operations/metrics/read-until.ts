/** Reads again and again until what is read fits; gives up after many times, with what was read last. */
export async function readUntil<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  let value = await read();
  for (let times = 1; times < 1_000 && !fits(value); times++) value = await read();
  return value;
}
