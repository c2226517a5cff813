import type { Transform } from 'node:stream';
import zlib from 'node:zlib';

import type { Coding } from './accept-encoding.ts';

const { constants } = zlib;

/** 2 to the power of 18 bytes: the encoder's memory grows with it, and web pages are seldom longer. */
const windowBits = 18;

/**
 * Levels that cost about what gzip does by default: for JSON in chunks of 16 kB, 13 (br), 8 (zstd) and 15 (gzip) ms of
 * processor time a megabyte; br at 5 takes 22. Every write is flushed, so that what the upstream has sent reaches the
 * client without waiting for more.
 */
const makers: Readonly<Record<Coding, () => Transform>> = {
  br: () =>
    zlib.createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: windowBits },
    }),
  zstd: () =>
    zlib.createZstdCompress({
      flush: constants.ZSTD_e_flush,
      params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: windowBits },
    }),
  gzip: () => zlib.createGzip({ level: 6, flush: constants.Z_SYNC_FLUSH }),
};

/** Best first; older versions of Node have no zstd. */
export const offeredCodings: readonly Coding[] = 'createZstdCompress' in zlib ? ['br', 'zstd', 'gzip'] : ['br', 'gzip'];

/** The caller ends or destroys it, which frees its memory. */
export function openEncoder(coding: Coding): Transform {
  return makers[coding]();
}
