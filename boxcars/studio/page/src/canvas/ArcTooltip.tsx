/** A tooltip with the fields of the arc under the pointer. */

import { useTip } from "./tips";

export function ArcTooltip() {
  const tip = useTip((state) => state.tip);
  if (!tip) return null;
  const left = Math.min(tip.x + 14, window.innerWidth - 240);
  const top = Math.min(tip.y + 14, window.innerHeight - 40 - 20 * (tip.schema?.fields.length ?? 1));
  return (
    <div className="tooltip" role="tooltip" style={{ left, top }} data-testid="arc-tooltip">
      <strong>{tip.title}</strong>
      {tip.schema ? (
        <dl>
          {tip.schema.fields.map((field) => (
            <div key={field.name}>
              <dt>
                {field.name}
                {field.name === tip.schema?.ts && (
                  <span title="the order attribute">{tip.schema.ordered ? "*" : "?"}</span>
                )}
              </dt>
              <dd>{field.type}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p>Fields not known yet.</p>
      )}
    </div>
  );
}
