/** Rows that are asked for at once; as many as the server gives. */
export const rowsPerCall = 100;
