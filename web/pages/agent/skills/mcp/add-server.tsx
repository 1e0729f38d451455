// Adds an MCP server: by its address, or by a command if the operator allows some. It is tested at once.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../../../api/errors.ts";
import { Button } from "../../../../parts/button.tsx";
import { Dialog } from "../../../../parts/dialog.tsx";
import { ErrorNote } from "../../../../parts/error-note.tsx";
import { Choice } from "../../../../parts/forms/choice.tsx";
import { SelectField, TextField } from "../../../../parts/forms/field.tsx";
import { Form } from "../../../../parts/forms/form.tsx";
import { showToast } from "../../../../parts/toast.tsx";
import { t } from "../../../../viewer/language.ts";
import type { Servers } from "./data.ts";

const FORM = "add-mcp-server";
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

export function AddServer({ servers, onClose }: { servers: Servers; onClose: () => void }) {
  const { commands } = servers;
  const [kind, setKind] = useState<"url" | "command">("url");
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [key, setKey] = useState("");
  const [command, setCommand] = useState(commands[0]?.name ?? "");
  const [args, setArgs] = useState("");
  const takesArguments = commands.find((one) => one.name === command)?.args ?? false;
  const taken = servers.servers?.some((one) => one.name === name.trim())
    ? t("This agent has a server of this name.")
    : undefined;

  const add = useMutation({
    mutationFn: () =>
      servers.add(
        name.trim(),
        kind === "url"
          ? { url: url.trim() }
          : { command, ...(takesArguments && args.trim() !== "" && { args: args.trim().split(/\s+/) }) },
        kind === "url" ? key.trim() : "",
      ),
    onSuccess() {
      onClose();
      showToast(t("{name} is added, and looked at now", { name: name.trim() }));
    },
  });
  const issue = (field: string) =>
    add.error instanceof ApiError ? add.error.issueAt(`mcpServers.${name.trim()}.${field}`) : undefined;
  const nameIssue = taken ?? (add.error instanceof ApiError ? add.error.issueAt("config.mcpServers") : undefined);
  const submit = () => {
    if (!taken) add.mutate();
  };
  return (
    <Dialog
      title={t("Add an MCP server")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" form={FORM} isBusy={add.isPending}>
            {t("Add it")}
          </Button>
        </>
      }
    >
      <Form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={t("Name")}
          required
          data-autofocus
          pattern={NAME.source}
          data-pattern-words={t("Letters, digits, spaces, dots, - and _, beginning with a letter or digit.")}
          maxLength={64}
          value={name}
          error={nameIssue}
          hint={t("Short, such as docs: its tools are called docs__search and so on.")}
          onChange={({ target }) => setName(target.value)}
        />
        {commands.length > 0 && (
          <div>
            <Choice
              label={t("How it is reached")}
              value={kind}
              options={[
                { value: "url", label: t("Address") },
                { value: "command", label: t("Command") },
              ]}
              onChange={setKind}
            />
          </div>
        )}
        {kind === "url" ? (
          <>
            <TextField
              label={t("Address")}
              type="url"
              required
              placeholder="https://mcp.example.com/mcp"
              value={url}
              error={issue("url")}
              onChange={({ target }) => setUrl(target.value)}
            />
            <TextField
              label={t("Key (if it wants one)")}
              type="password"
              value={key}
              hint={t("Kept sealed. A server with a sign-in needs none: you sign in after this.")}
              onChange={({ target }) => setKey(target.value)}
            />
          </>
        ) : (
          <>
            <SelectField
              label={t("Command")}
              value={command}
              error={issue("command")}
              onChange={({ target }) => setCommand(target.value)}
            >
              {commands.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </SelectField>
            {takesArguments && (
              <TextField
                label={t("Arguments")}
                value={args}
                hint={t("With spaces between.")}
                onChange={({ target }) => setArgs(target.value)}
              />
            )}
          </>
        )}
        {add.error && !issue("url") && !issue("command") && !nameIssue && <ErrorNote error={add.error} />}
      </Form>
    </Dialog>
  );
}
