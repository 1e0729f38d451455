// A drawing of how far the way is: the boat comes nearer to its berth with each step.

/** @param progress from 0 to 1 */
export function Harbour({ progress }: { progress: number }) {
  const x = 24 + Math.min(Math.max(progress, 0), 1) * 172;
  return (
    <svg viewBox="0 0 320 150" aria-hidden="true" className="w-full">
      <circle cx="262" cy="34" r="15" fill="none" stroke="var(--rail-soft)" strokeWidth="1.5" opacity="0.7" />
      <path d="M0 96h320v54H0z" fill="var(--rail-hover)" />
      <path
        d="M8 112q10 -6 20 0t20 0M96 126q10 -6 20 0t20 0t20 0M60 142q10 -6 20 0t20 0M186 140q10 -6 20 0t20 0"
        fill="none"
        stroke="var(--rail-soft)"
        strokeWidth="1.5"
        strokeLinecap="round"
        opacity="0.6"
      />
      <g fill="none" stroke="var(--rail-soft)" strokeWidth="2.5" strokeLinecap="round">
        <path d="M244 88h76M256 88v44M280 88v44M304 88v44" />
        <path d="M300 88V58h-14" />
      </g>
      <circle cx="284" cy="60" r="3" fill="var(--rail-ink)" />
      <g
        style={{ transform: `translateX(${x}px)`, transition: "transform var(--calm) var(--ease)" }}
        fill="none"
        stroke="var(--rail-ink)"
        strokeWidth="2"
        strokeLinejoin="round"
      >
        <path d="M-18 88h46l-8 15h-29z" fill="var(--fill)" />
        <path d="M4 84V50l20 34z" fill="var(--rail-ink)" />
        <path d="M0 84V56l-14 28z" fill="var(--rail)" />
      </g>
    </svg>
  );
}
