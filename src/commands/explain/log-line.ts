/** Reads a line of an access log in Envoy's default format as the request that it tells of. */
import type { Question } from '../../../shared/explain/read-question.ts';

/** `[start] "METHOD path PROTOCOL" code … "xff" "user agent" "request id" "authority" "host"`. */
const LINE =
  /^\[[^\]]*\] "(\S+) (\S+) [^"]*" \d+ .* "([^"]*)" "([^"]*)" "([^"]*)" "([^"]*)" "([^"]*)"\s*$/;
const NOTHING = '-';

/** Undefined: it is no such line. */
export function readLogLine(line: string): Question | undefined {
  const match = LINE.exec(line);
  if (match === null) return undefined;
  const [, method, path = '', forwardedFor = '', agent = '', , authority = ''] = match;
  const headers = [
    ...(authority === NOTHING ? [] : [`host: ${authority}`]),
    ...(agent === NOTHING ? [] : [`user-agent: ${agent}`]),
    ...(forwardedFor === NOTHING ? [] : [`x-forwarded-for: ${forwardedFor}`]),
  ];
  return { method, url: path, headers };
}
