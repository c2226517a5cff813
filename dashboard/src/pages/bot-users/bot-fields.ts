/** Limit of a bot's name in UTF-8. */
export const nameBytes = 255;

/** Errors that are about the name, and do not say so in a word. */
export const nameErrors = { 4109: 'name', 4110: 'name', 4112: 'name' } as const;
