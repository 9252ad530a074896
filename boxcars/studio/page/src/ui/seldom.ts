/** What changes fast, for those who are told of it: a value as it is every so often. */

import { useEffect, useRef, useState } from "react";

export function useSeldom<T>(value: T, pause: number): T {
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
