import { literal } from "./sql.ts";

/**
 * The 16 bytes of which `sessionDigest` writes the hexadecimal digits, as an expression that an index can hold. It takes
 * the id's own bytes, which are its UTF-8 only in a database of that encoding. To write them out for `decode` is the way
 * to them that is immutable, as `convert_to` is not, and that fails for no id.
 */
export const DIGEST_EXPRESSION = `substring(sha256(decode(replace(sid, ${literal("\\")}, ${literal("\\\\")}), 'escape')) from 1 for 16)`;
