// Names the jobs of erasures, without loading what they do.

/** Goes on with an erasure after a kill. */
export const ERASE_JOB = "privacy.erase";
/** Records what a prune had deleted that was ended before it could say so. */
export const PRUNED_JOB = "privacy.pruned";
/** Scrubs the files once for all erasures of owners that came soon after another. */
export const SCRUB_JOB = "privacy.scrub";

/** Asked of the other cells: what their audit logs have of an account, which may have been in them. */
export const AUDIT_OF = "audit-of-account";
