/**
 * The parts of msgpackr that are used here. Its main entry also loads a native addon, packages that
 * look for it and streams: 8 ms more in every process.
 */
import type * as Msgpackr from 'msgpackr';
import * as codec from 'msgpackr/pack';

export const { addExtension, Packr, Unpackr } = codec as unknown as typeof Msgpackr;
