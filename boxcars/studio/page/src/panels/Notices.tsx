/** Notices in a corner of the page. */

import { dismiss, useStudio } from "../state/studio";
import { Button, CloseButton } from "../ui/controls";
import { Icon } from "../ui/Icon";

export function Notices() {
  const notices = useStudio((state) => state.notices);
  return (
    <div className="notices" aria-live="polite" data-testid="notices">
      {notices.map((notice) => (
        <div
          key={notice.id}
          className={`notice ${notice.tone}`}
          role={notice.tone === "bad" ? "alert" : "status"}
          data-testid={`notice-${notice.tone}`}
        >
          {notice.tone !== "plain" && (
            <Icon name={notice.tone === "bad" ? "warning" : "check"} size={15} />
          )}
          <span>{notice.text}</span>
          {notice.action && (
            <Button label={notice.action.label} kind="ghost" onClick={notice.action.run} />
          )}
          <CloseButton label="Dismiss" onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}
