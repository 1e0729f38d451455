// What guards the account: its password, and the second factor.

import { PasswordSection } from "./password-section.tsx";
import { TwoFactorSection } from "./two-factor-section.tsx";

export default function SecurityPage() {
  return (
    <>
      <PasswordSection />
      <TwoFactorSection />
    </>
  );
}
