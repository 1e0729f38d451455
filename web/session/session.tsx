// The signed-in user, for every page.

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext } from "react";
import { api } from "../api/api.ts";
import { type Text, t, text } from "../viewer/language.ts";

/** `GET /api/settings`. */
export interface User {
  id: string;
  email: string;
  name: string;
  plan: string;
  credits: number;
  twoFactorEnabled: boolean;
  hasPassword: boolean;
  emailVerified: boolean;
  isAdmin: boolean;
  referralCode: string;
  subscription: { plan: string; status: string; active: boolean; currentPeriodEnd: string } | null;
  notifications: Record<string, boolean>;
  /** Set while an admin has frozen the account. */
  frozen: { since: string; reason: string } | null;
  createdAt: string;
}

const PLANS: Readonly<Record<string, Text>> = {
  free: text("Free"),
  starter: text("Starter"),
  pro: text("Pro"),
  enterprise: text("Enterprise"),
};

/** A plan as people read it: "Free". */
export function planName(plan: string): string {
  const words = Object.hasOwn(PLANS, plan) ? PLANS[plan] : undefined;
  return words ? t(words) : plan;
}

export const USER_KEY = ["user"] as const;

export const useUserQuery = () =>
  useQuery({ queryKey: USER_KEY, queryFn: () => api.get<User>("/api/settings"), staleTime: 60_000 });

const UserContext = createContext<User | undefined>(undefined);

export const UserProvider = ({ user, children }: { user: User; children: ReactNode }) => (
  <UserContext value={user}>{children}</UserContext>
);

/** The signed-in user. Pages are shown only with one. */
export function useUser(): User {
  const user = useContext(UserContext);
  if (!user) throw new Error("useUser() is called outside of the shell.");
  return user;
}
