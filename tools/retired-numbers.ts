/** Numbers of errors that nothing answers any more. They are never given to another error. */
export const retiredNumbers: readonly number[] = [1423, 20089, 24010, 24011];
