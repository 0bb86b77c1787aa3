/** Whether calls take the direct path where it can serve them. Tests switch it off, to run over connect's path as well. */
export const directPath = { enabled: true };
