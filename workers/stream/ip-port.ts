/** Reads `address:port` with a literal IP address; IPv6 in brackets. */
import { isIP } from '../../shared/addresses/ip-text.ts';

const IP_PORT = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;

export function parseIpPort(text: string): { ip: string; port: number } | undefined {
  const [, v6, v4, digits] = IP_PORT.exec(text) ?? [];
  const ip = v6 ?? v4 ?? '';
  const port = Number(digits);
  const isRight = isIP(ip) === (v6 === undefined ? 4 : 6) && port <= 65_535;
  return isRight ? { ip, port } : undefined;
}
