export { type Method, replaceMethod, undoing } from "../interception/replaced-method.ts";
