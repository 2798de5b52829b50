/**
 * `/tap/listen`: records what passes at listeners for this client, without a filter that was
 * configured for it. It ends by itself. One client of taps at a time.
 */
import { isIP } from '../../../../shared/addresses/ip-text.ts';
import type { TapListenOrder } from '../../../../shared/resources/tap.ts';
import { BadParam, flag, oneOf, parsed, several, text, words } from '../../../http-pages/params.ts';
import { LISTEN_FORMATS, type ListenFormat, ListenOutput } from '../../../tap/listen-output.ts';
import { listening, type ListenQuestion, tapRequestText } from '../../../tap/listen-request.ts';
import type { AdminContext } from '../../admin-context.ts';
import type { AdminResponse } from '../../../http-pages/admin-response.ts';
import type { RequestOf } from '../../admin-route.ts';
import { textResponse } from '../../http/responses.ts';

const COUNT_DEFAULT = 100;
const COUNT_MAX = 100_000;
const SECONDS_DEFAULT = 60;
/** A day. */
const SECONDS_MAX = 86_400;
const BODY_DEFAULT = 64 * 1024;
/** A record is read in one turn of the loop. */
const BODY_MAX = 1024 * 1024;
const WHOLE = /^\d{1,7}$/;
const PERCENT = /^\d{1,3}(\.\d{1,4})?$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?(.*)$/;
/** An attached client of either page. */
const ATTACHED = 'An attached /tap admin stream already exists. Detach it.\n';

const TYPES = {
  har: 'application/json',
  ndjson: 'application/x-ndjson',
  pcap: 'application/vnd.tcpdump.pcap',
} as const;

function number(help: string, limits: { byDefault: number; least: number; most: number }) {
  const { byDefault, least, most } = limits;
  return parsed(
    `${help}, ${byDefault} by default`,
    (given) => {
      const value = WHOLE.test(given) ? Number(given) : -1;
      const isGood = value >= least && value <= most;
      return isGood ? value : new BadParam(`${given} is no number from ${least} to ${most}\n`);
    },
    byDefault,
  );
}

export const TAP_LISTEN_PARAMS = {
  listener: text('Name of the listener; without it, all of them'),
  path: text('Path; with * at its end, whatever begins so'),
  host: text('Host that is asked for'),
  method: text('Method'),
  status: text('Status of the answer: 404, 5xx'),
  header: several('name: value of the request; may be given several times', (given) => {
    const [match, name = '', value = ''] = HEADER.exec(given) ?? [];
    return match === undefined
      ? new BadParam('header is name: value\n')
      : { name: name.toLowerCase(), value };
  }),
  match: text('A MatchPredicate of the API as JSON, besides'),
  client: parsed(
    'IP address or range of the client',
    (given) => {
      const [ip = '', length = '0', ...rest] = given.split('/');
      const isGood = isIP(ip) !== 0 && /^\d{1,3}$/.test(length) && rest.length === 0;
      return isGood ? given : new BadParam('client is an IP address or a range\n');
    },
    undefined,
  ),
  sample: parsed(
    'Percent of the requests or connections, 100 by default',
    (given) => {
      const percent = PERCENT.test(given) ? Number(given) : -1;
      const isGood = percent > 0 && percent <= 100;
      return isGood ? percent : new BadParam('sample is a percentage above 0, up to 100\n');
    },
    100,
  ),
  count: number('Requests, or reads and writes of connections, after which it ends', {
    byDefault: COUNT_DEFAULT,
    least: 1,
    most: COUNT_MAX,
  }),
  for: number('Seconds after which it ends', {
    byDefault: SECONDS_DEFAULT,
    least: 1,
    most: SECONDS_MAX,
  }),
  body: number('Bytes of each body that are recorded', {
    byDefault: BODY_DEFAULT,
    least: 0,
    most: BODY_MAX,
  }),
  format: oneOf<ListenFormat>({
    help: 'har: for the developer tools of a browser; ndjson: a line of JSON for each; pcap: connections, as a capture of packets',
    values: words(...LISTEN_FORMATS),
    byDefault: 'har',
    otherwise: new BadParam(`format is one of ${LISTEN_FORMATS.join(', ')}\n`),
  }),
  secrets: flag('Credentials and cookies in headers are recorded too'),
};

type Asked = RequestOf<typeof TAP_LISTEN_PARAMS>;

export async function listenTap({ params }: Asked, context: AdminContext): Promise<AdminResponse> {
  const { tap, clock, listeners } = context;
  const { format, listener, secrets } = params;
  if (tap.isAttached()) return textResponse(ATTACHED, 400);
  if (listener !== undefined && !listeners.list().some(({ name }) => name === listener)) {
    return textResponse('there is no such listener\n', 404);
  }
  const question = questionOf(params);
  if (typeof question === 'string') return textResponse(question, 400);
  const request = await tap.read(Buffer.from(tapRequestText(question)));
  if (typeof request === 'string') return textResponse(`${request}\n`, 400);
  if (tap.isAttached()) return textResponse(ATTACHED, 400);
  return {
    status: 200,
    contentType: TYPES[format],
    headers: { 'content-disposition': `attachment; filename="sluice-tap.${format}"` },
    body: new ListenOutput(tap.begin(listening(request, question)), {
      format,
      keepsSecrets: secrets,
      nowMs: () => clock.wallMs(),
    }),
    isEndless: true,
  };
}

/** Or why it cannot be asked. */
function questionOf(params: Asked['params']): ListenQuestion | string {
  const { listener, client, sample, count, body, format, header: headers, ...conditions } = params;
  const { path, host, method, status, match } = conditions;
  const isOfConnections = format === 'pcap';
  const narrowing = [path, host, method, status, match].some((each) => each !== undefined);
  if (isOfConnections && (narrowing || headers.length > 0)) {
    return 'pcap records connections: only listener, client and sample choose among them\n';
  }
  if (match !== undefined && !isJsonObject(match)) return 'match is no JSON object\n';
  const order: TapListenOrder = {
    of: isOfConnections ? 'connections' : 'requests',
    ...(listener !== undefined && { listener }),
    ...(client !== undefined && { client }),
    share: Math.round(sample * 10_000),
  };
  const limits = { maxRecords: count, timeoutMs: params.for * 1000, maxBodyBytes: body };
  return { order, headers, path, host, method, status, match, ...limits };
}

function isJsonObject(given: string): boolean {
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
