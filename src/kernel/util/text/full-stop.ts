// Puts sentences together of parts from elsewhere.
/** Ends a sentence whose last part came from elsewhere, such as the message of an error, with or without a full stop. */
export const withFullStop = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);
