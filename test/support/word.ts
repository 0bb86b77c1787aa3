/** A word for a number, without digits: names with numbers may be taken for names with ids. */
export function word(number: number): string {
  return number.toString(2).replaceAll("0", "a").replaceAll("1", "b");
}
