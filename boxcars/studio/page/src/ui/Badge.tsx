/** The sign of a box; signs that many fonts lack are drawn. */

import { Icon, type IconName } from "./Icon";

const DRAWN: Record<string, IconName> = { "⧗": "hourglass", "⧉": "stack" };

export function Badge({ icon }: { icon: string }) {
  const drawn = DRAWN[icon];
  return (
    <span className="badge" aria-hidden="true">
      {drawn ? <Icon name={drawn} size={15} /> : icon}
    </span>
  );
}
