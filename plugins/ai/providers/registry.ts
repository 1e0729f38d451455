// The ids of the providers.

export const providerIds = ["provider_1", "provider_2", "provider_3", "provider_4", "provider_5"] as const;
export type ProviderId = (typeof providerIds)[number];
