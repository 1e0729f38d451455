// What this service offers for signing in, and whether it sends mails.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { t } from "../../viewer/language.ts";

interface Offers {
  providers: { id: string; name: string }[];
  /** Without a mail server, mails stay as files on the machine of the service. */
  sendsMail: boolean;
}

/** Where mails are while there is no mail server, and who can change that. */
export const noMails = (): string =>
  t(
    "This Berth sends no mails yet. Whoever runs it finds them in the folder outbox of its data, and can set SMTP_URL.",
  );

export const useOffers = () =>
  useQuery({
    queryKey: ["sign-in-offers"],
    queryFn: () => api.get<Offers>("/api/auth/providers"),
    staleTime: Number.POSITIVE_INFINITY,
  });
