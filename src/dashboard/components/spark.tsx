/** A small curve of a history, oldest first. Its words say what the eye sees. */
export function Spark({
  values,
  label,
  tone = "",
}: {
  values: readonly number[];
  label: string;
  tone?: "" | "bad" | "changed";
}) {
  if (values.length < 2) return null;
  const most = Math.max(1, ...values);
  const points = values.map(
    (value, at) => `${((at / (values.length - 1)) * 120).toFixed(1)} ${(30 - (value / most) * 28).toFixed(1)}`,
  );
  return (
    <svg class={`spark ${tone}`} viewBox="0 0 120 32" preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="area" d={`M0 32L${points.join("L")}L120 32Z`} />
      <path class="line" d={`M${points.join("L")}`} />
    </svg>
  );
}
