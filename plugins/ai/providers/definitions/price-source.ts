// The date and source of the prices and context windows in this folder.

/** scripts/refresh-catalogue.mjs writes newer figures and this date. */
export const CATALOGUE_DATE = "2026-07-02";
/** MIT licensed; collected from the providers' price pages. */
export const CATALOGUE_SOURCE = "https://models.dev";
