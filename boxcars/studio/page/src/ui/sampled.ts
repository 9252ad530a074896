/** A fast-changing value, sampled at intervals: for announcements to screen readers. */

import { useEffect, useRef, useState } from "react";

export function useSampled<T>(value: T, pause: number): T {
  const [said, setSaid] = useState(value);
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  useEffect(() => {
    const timer = window.setInterval(() => setSaid(latest.current), pause);
    return () => window.clearInterval(timer);
  }, [pause]);
  return said;
}
