// What was paid, and what waits for the owner.

import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../api/api.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../parts/error-note.tsx";
import { MoreButton } from "../../parts/lists/more-button.tsx";
import { Rows } from "../../parts/lists/rows.tsx";
import { OutsideLink } from "../../parts/outside-link.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { Status } from "../../parts/values/status.tsx";
import { When } from "../../parts/values/when.tsx";
import { formatAmount, formatNumber, formatUsd, t } from "../../viewer/language.ts";
import { kindOf, MAINNET, REASONS, SPENDS_KEY, type Spend, STATES, shortAddress, WALLET_KEY } from "./wallet.ts";

const PAGE = 50;
/** Milliseconds between looks at the list, while something in it is under way. */
const POLL_MS = 4_000;
const isUnderWay = ({ status }: Spend) => status === "pending" || status === "submitted";

interface Props {
  /** Only what this agent has asked for. */
  agentId?: string;
}

/** Newest first. The page's two lists share what was read. */
const useSpends = ({ agentId }: Props) =>
  useInfiniteQuery({
    queryKey: [...SPENDS_KEY, agentId],
    queryFn: ({ pageParam }) =>
      api.get<{ spends: Spend[]; count: number }>("/api/wallet/spends", { limit: PAGE, offset: pageParam, agentId }),
    initialPageParam: 0,
    getNextPageParam: ({ count }, pages) => (pages.length * PAGE < count ? pages.length * PAGE : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ spends }) => spends.some(isUnderWay)) ? POLL_MS : 30_000,
  });

const isWaiting = ({ status }: Spend) => status === "waiting_approval";

/** What waits for the owner; nothing while nothing does. */
export function WaitingSpends(props: Props) {
  const { data } = useSpends(props);
  const waiting = data?.pages.flatMap(({ spends }) => spends.filter(isWaiting)) ?? [];
  if (waiting.length === 0) return null;
  return (
    <Section title={t("Waits for you")} hint={t("Nothing is paid before you approve it.")}>
      {waiting.map((spend) => (
        <Waiting key={spend.id} spend={spend} />
      ))}
    </Section>
  );
}

export function Spends(props: Props) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useSpends(props);
  const others = data?.pages.flatMap(({ spends }) => spends.filter((spend) => !isWaiting(spend))) ?? [];
  return (
    <Section title={t("Payments")}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-24" />}
      {data && others.length === 0 && (
        <EmptyState title={t("No payment yet")}>
          {props.agentId === undefined
            ? t("What agents send, trade and pay for is listed here, with what became of it.")
            : t("What this agent sends, trades and pays for is listed here, with what became of it.")}
        </EmptyState>
      )}
      {others.length > 0 && <Payments spends={others} />}
      <MoreButton label={t("Show older ones")} query={{ hasNextPage, isFetchingNextPage, fetchNextPage }} />
    </Section>
  );
}

const Payments = ({ spends }: { spends: readonly Spend[] }) => (
  <Rows
    label={t("Payments")}
    rows={spends}
    keyOf={({ id }) => id}
    columns="md:grid-cols-[8rem_minmax(0,1fr)_6rem_12rem]"
  >
    {(spend) => (
      <>
        <span className="text-soft">
          <When at={spend.createdAt} />
        </span>
        <What spend={spend} />
        <span className="font-medium md:text-right">{formatUsd(Number(spend.usd))}</span>
        <State spend={spend} />
      </>
    )}
  </Rows>
);

function What({ spend }: { spend: Spend }) {
  const { kind, amount, to, url, buy, buyName, agentId, network, link, fee } = spend;
  const label = kindOf(kind)?.done;
  const target = url ?? buyName ?? buy ?? to;
  return (
    <div className="min-w-0">
      {label ? t(label) : kind}: {formatAmount(amount)} {tokenOf(spend)}
      {target && (
        <p className="break-all text-soft text-sm" title={target}>
          {t("to {target}", { target: shortAddress(target) })}
        </p>
      )}
      <p className="flex flex-wrap gap-x-3 text-soft text-sm">
        {agentId && (
          <Link href={`/agents/${agentId}`} className="text-sea underline">
            {t("by an agent")}
          </Link>
        )}
        {link && <OutsideLink href={link}>{t("on the chain")}</OutsideLink>}
        {fee !== undefined && <span>{t("fee {amount} ether", { amount: feeText(fee) })}</span>}
        {network === MAINNET && <span>{t("real money")}</span>}
      </p>
    </div>
  );
}

/** Only tokens that the server knows have a name: anybody can call theirs USDC. */
const tokenOf = ({ asset, assetName }: Spend): string => assetName ?? shortAddress(asset);

const feeText = (fee: string): string => formatNumber(Number(fee), { maximumSignificantDigits: 2 });

function State({ spend: { status, reason } }: { spend: Spend }) {
  const { label, tone } = STATES[status];
  const why = reason === undefined ? undefined : REASONS[reason];
  return (
    <div>
      <Status tone={tone}>{t(label)}</Status>
      {reason && <p className="text-soft text-sm">{why ? t(why) : reason}</p>}
    </div>
  );
}

function Waiting({ spend }: { spend: Spend }) {
  const { id, kind, usd, amount, to, url, buy, buyName, quoted, atLeast, agentId, network, createdAt } = spend;
  const wanted = kindOf(kind)?.wanted;
  const client = useQueryClient();
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (decision: "approve" | "reject") => api.post(path`/api/wallet/spends/${id}/${decision}`, {}),
    onSuccess: (_, decision) =>
      showToast(decision === "approve" ? t("Approved: it is being paid.") : t("Rejected. Nothing was paid.")),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => client.invalidateQueries({ queryKey: WALLET_KEY }),
  });
  return (
    <article className="flex flex-wrap items-center gap-x-6 gap-y-2 border-edge border-b py-3 first:pt-0 last:border-b-0 last:pb-0">
      <div className="min-w-56 flex-1">
        <h3 className="font-semibold">
          {wanted ? t(wanted) : kind}: {formatAmount(amount)} {spend.assetName ?? spend.asset}
        </h3>
        {/* In full: this is what is approved. */}
        {(url ?? to) && <p className="break-all font-mono text-sm">{url ?? to}</p>}
        <p className="break-words text-soft text-sm">
          {buy &&
            quoted &&
            `${t("For {token}: about {amount}, at least {least}.", { token: buyName ?? buy, amount: formatAmount(quoted), least: formatAmount(atLeast ?? quoted) })} `}
          {t("Worth {usd}.", { usd: formatUsd(Number(usd)) })} {network === MAINNET && t("This is real money.")}{" "}
          {agentId === null ? t("Asked for by you,") : t("Asked for by an agent,")} <When at={createdAt} />.
        </p>
      </div>
      <div className="flex gap-2">
        <Button look="primary" isBusy={isPending && variables === "approve"} onClick={() => mutate("approve")}>
          {t("Approve")}
        </Button>
        <Button look="danger" isBusy={isPending && variables === "reject"} onClick={() => mutate("reject")}>
          {t("Reject")}
        </Button>
      </div>
    </article>
  );
}
