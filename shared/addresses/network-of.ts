/** The network that an IP address is in, as text. */
import { isIPv4 } from './ip-text.ts';
import { ipv6Groups } from './ip-groups.ts';

/** `127.0.0.0/16`; a length beyond the address's own means the whole address. */
export function networkOf(address: string, length: number): string {
  const isV4 = isIPv4(address);
  const bits = Math.min(length, isV4 ? 32 : 128);
  const width = isV4 ? 8 : 16;
  const groups = isV4 ? address.split('.').map(Number) : ipv6Groups(address);
  const masked = groups.map((group, index) => {
    const kept = Math.min(Math.max(bits - index * width, 0), width);
    return group & ((0xffff << (width - kept)) & ((1 << width) - 1));
  });
  if (isV4) return `${masked.join('.')}/${bits}`;
  const groupTexts = masked.map((group) => group.toString(16));
  return `${shortened(groupTexts)}/${bits}`;
}

/** The longest run of zero groups becomes `::`. */
function shortened(groups: readonly string[]): string {
  const runs = groups.join(':').match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  const whole = groups.join(':');
  if (longest === '') return whole;
  const at = whole.indexOf(longest);
  return `${whole.slice(0, at)}::${whole.slice(at + longest.length + 1)}`;
}
