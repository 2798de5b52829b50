/** Whether an address is the one that an operator means: an IP address, or a range of them. */
import { compileIpRanges } from './ip-ranges.ts';
import { isIP } from './ip-text.ts';

/** Undefined means every client; what is no address means none. */
export function compileClient(client: string | undefined): (ip: string) => boolean {
  if (client === undefined) return () => true;
  const [address = '', length] = client.split('/');
  if (isIP(address) === 0) return () => false;
  return compileIpRanges([{ address, prefixLength: length === undefined ? 128 : Number(length) }]);
}
