// How long passwords are. Imports nothing, so that the console's forms judge by the same numbers.

/** Code points of a new password: at sign-up, in the settings, for accounts that admins make, and in every form. */
export const MIN_PASSWORD_LENGTH = 8;
/** Longer passwords only cost hashing time. */
export const MAX_PASSWORD_LENGTH = 1024;
