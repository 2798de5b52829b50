/** The command line of `sluice reverse-proxy`. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import { splitOption } from '../../split-option.ts';

export interface ReverseProxyArguments {
  readonly from: ListenAddress;
  readonly targets: readonly Target[];
  readonly tls: { readonly certificate: string; readonly key: string } | undefined;
  readonly admin: ListenAddress;
  readonly isLogging: boolean;
  /** Takes any certificate of a `https://` target. */
  readonly isInsecure: boolean;
  /** Prints the bootstrap and ends. */
  readonly isPrinting: boolean;
  readonly serverOptions: readonly string[];
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type Target =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isTls: boolean }
  | { readonly kind: 'unix'; readonly path: string };

export const REVERSE_PROXY_HELP = `usage: sluice reverse-proxy --to TARGET [OPTIONS] [-- SERVER OPTIONS]

Runs a server that passes every request on; prints the bootstrap that it runs with --print.

  --from [HOST]:PORT       where it listens (:8080, on all interfaces)
  --to TARGET              HOST:PORT, http://HOST:PORT, https://HOST[:PORT] or unix:PATH; given several
                           times, requests go to each in turn
  --tls CERTIFICATE,KEY    serves TLS with the certificate and key of these two files
  --insecure               takes any certificate of a https:// target
  --admin [HOST]:PORT      where the admin interface listens (127.0.0.1:9901)
  --access-log             writes a line for each request to standard output
  --print                  prints the bootstrap and ends
  -- SERVER OPTIONS        options of the server, such as --concurrency 2
`;

const MAX_PORT = 65_535;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** What the words so far say; a text is what is wrong. */
interface Draft {
  from: ListenAddress;
  targets: Target[];
  tls: ReverseProxyArguments['tls'];
  admin: ListenAddress;
}

const FLAGS = ['--insecure', '--access-log', '--print'];

/** A text says what is wrong. */
export function parseReverseProxyArguments(
  argv: readonly string[],
): ReverseProxyArguments | string {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const flags = new Set<string>();
  const draft: Draft = {
    from: { host: '::', port: 8080 },
    targets: [],
    tls: undefined,
    admin: { host: '127.0.0.1', port: 9901 },
  };
  for (let at = 0; at < words.length; at++) {
    const [name, inline] = splitOption(words[at] ?? '');
    if (FLAGS.includes(name)) {
      flags.add(name);
      continue;
    }
    const read = VALUES.get(name);
    if (read === undefined) return `unknown word ${name}`;
    const value = inline ?? words[++at];
    if (value === undefined || value === '') return `${name} needs a value`;
    const mistake = read(draft, value);
    if (mistake !== undefined) return mistake;
  }
  if (draft.targets.length === 0) return '--to is missing: where do requests go?';
  const kinds = new Set(draft.targets.map((target) => target.kind === 'tcp' && target.isTls));
  if (kinds.size > 1) return '--to names targets with and without TLS: one server takes one kind';
  return {
    ...draft,
    isInsecure: flags.has('--insecure'),
    isLogging: flags.has('--access-log'),
    isPrinting: flags.has('--print'),
    serverOptions: end < 0 ? [] : argv.slice(end + 1),
  };
}

const VALUES = new Map<string, (draft: Draft, value: string) => string | undefined>([
  [
    '--from',
    (draft, value) => {
      const address = listenAddress(value, '::');
      if (address === undefined) return `--from ${value} is not [HOST]:PORT`;
      draft.from = address;
      return undefined;
    },
  ],
  [
    '--admin',
    (draft, value) => {
      const address = listenAddress(value, '127.0.0.1');
      if (address === undefined) return `--admin ${value} is not [HOST]:PORT`;
      draft.admin = address;
      return undefined;
    },
  ],
  [
    '--to',
    (draft, value) => {
      const target = targetOf(value);
      if (target === undefined) {
        return `--to ${value} is not HOST:PORT, http://HOST:PORT, https://HOST[:PORT] or unix:PATH`;
      }
      draft.targets.push(target);
      return undefined;
    },
  ],
  [
    '--tls',
    (draft, value) => {
      const [certificate = '', key = '', ...rest] = value.split(',');
      if (certificate === '' || key === '' || rest.length > 0) {
        return `--tls ${value} is not CERTIFICATE,KEY: two files`;
      }
      draft.tls = { certificate, key };
      return undefined;
    },
  ],
]);

function listenAddress(text: string, everywhere: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  const named = match[1] ?? match[2] ?? '';
  const host = named === '' ? everywhere : named === 'localhost' ? '127.0.0.1' : named;
  return port > MAX_PORT || isIP(host) === 0 ? undefined : { host, port };
}

function targetOf(text: string): Target | undefined {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    return path === '' ? undefined : { kind: 'unix', path };
  }
  const match = /^(?:(https?):\/\/)?(?:\[([^\]]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, scheme, ipv6, name, portText] = match;
  if (scheme === undefined && portText === undefined) return undefined;
  const isTls = scheme === 'https';
  const port = portText === undefined ? (isTls ? HTTPS_PORT : HTTP_PORT) : Number(portText);
  if (port === 0 || port > MAX_PORT) return undefined;
  return { kind: 'tcp', host: ipv6 ?? name ?? '', port, isTls };
}
