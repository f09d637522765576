/** What an address with each scheme meets on a port that speaks the other one, and how people read it. */
const signs = {
  'https:': {
    sign: /wrong.version.number|packet.length.too.long/i,
    words: 'that port speaks plain HTTP, and service.base_url says https://',
  },
  'http:': {
    sign: /other side closed|ECONNRESET|HPE_INVALID/,
    words:
      'the server closed the connection without an answer: it may speak HTTPS, and service.base_url says http://',
  },
} as const;

/** Replies in plain HTTP of servers that expect HTTPS: nginx, Go, Apache. */
const wantsTls =
  /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|plain HTTP to an SSL-enabled/i;

/** What such a reply means. */
export const httpsPort = 'that port speaks HTTPS, and service.base_url says http://';

/** Returns the plain words for a failure that the other scheme causes; any other message unchanged. */
export function schemeTrouble(message: string, { protocol }: Pick<URL, 'protocol'>): string {
  const known = protocol === 'https:' || protocol === 'http:' ? signs[protocol] : undefined;
  return known?.sign.test(message) ? known.words : message;
}

/** True for the reply of an HTTPS port to a request in plain HTTP. */
export function isFromHttpsPort(text: string): boolean {
  return wantsTls.test(text);
}
