/** Which of a chain's compressors a client's `accept-encoding` asks for. Knows no filter. */

/** What one compressor of the chain can do for this response. */
export interface CompressorOffer {
  readonly encoding: string;
  readonly chooseFirst: boolean;
  isContentTypeAllowed(contentType: string | undefined): boolean;
}

interface EncodingChoice {
  /** Empty: the message stays as it is. */
  readonly encoding: string;
  readonly reason: 'absent' | 'not_valid' | 'identity' | 'wildcard' | 'compressor';
}

const IDENTITY = 'identity';
const WILDCARD = '*';

/** `offers` in the order of the chain; of two for one encoding the first counts. */
export function chooseEncoding(
  acceptEncoding: string | undefined,
  offers: readonly CompressorOffer[],
): EncodingChoice {
  if (acceptEncoding === undefined) return { encoding: '', reason: 'absent' };
  const isPreferred = (encoding: string, other: string): boolean => {
    const place = offers.findIndex((offer) => offer.encoding === encoding);
    const otherPlace = offers.findIndex((offer) => offer.encoding === other);
    return offers[place]?.chooseFirst === true && place < otherPlace;
  };
  let chosen = '';
  let quality = 0;
  for (const token of acceptEncoding.split(',')) {
    const wanted = readToken(token);
    if (wanted === undefined) continue;
    const { encoding } = wanted;
    const isKnown =
      encoding === IDENTITY ||
      encoding === WILDCARD ||
      offers.some((offer) => offer.encoding === encoding);
    if (!isKnown || wanted.quality < quality || wanted.quality <= 0) continue;
    if (wanted.quality === quality && !isPreferred(encoding, chosen)) continue;
    chosen = encoding;
    quality = wanted.quality;
  }
  return choiceOf(chosen, offers);
}

function choiceOf(chosen: string, offers: readonly CompressorOffer[]): EncodingChoice {
  if (chosen === '') return { encoding: '', reason: 'not_valid' };
  if (chosen === IDENTITY) return { encoding: '', reason: 'identity' };
  if (chosen === WILDCARD) return { encoding: offers[0]?.encoding ?? '', reason: 'wildcard' };
  return { encoding: chosen, reason: 'compressor' };
}

/** Undefined for a token whose q value is not a number. */
function readToken(
  token: string,
): { readonly encoding: string; readonly quality: number } | undefined {
  const [name = '', parameter] = token.split(';', 2);
  const encoding = name.trim();
  const equals = parameter?.indexOf('=') ?? -1;
  if (parameter === undefined || equals < 0) return { encoding, quality: 1 };
  if (parameter.slice(0, equals).trim().toLowerCase() !== 'q') return { encoding, quality: 1 };
  const text = parameter.slice(equals + 1).trim();
  const quality = text === '' ? Number.NaN : Number(text);
  return Number.isNaN(quality) ? undefined : { encoding, quality };
}
