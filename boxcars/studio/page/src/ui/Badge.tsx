/** The icon of a box; characters missing from many fonts are drawn. */

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
