// Keeps an error of one page from taking the whole console down.

import { Component, type ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { CenteredNote } from "../parts/page/centered-note.tsx";
import { t } from "../viewer/language.ts";

interface Props {
  children: ReactNode;
  /** The address: another one shows its page although this one failed. */
  address: string;
}

export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (before.address !== this.props.address && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <CenteredNote title={t("This page has a fault")}>
        <p>
          {t(
            "Nothing that you saved is lost. Load the page again; if the fault stays, tell the operator what you did.",
          )}
        </p>
        <Button onClick={() => location.reload()}>{t("Load again")}</Button>
      </CenteredNote>
    );
  }
}
