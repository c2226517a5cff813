/**
 * Requests by which one tries to get a second request past a proxy. Each is sent for `/form`; what must not arrive is called
 * `smuggled`, has a header that the route removes, or asks for `/closed`, which lets nobody in.
 */
export interface SmugglingForm {
  readonly bytes: string;
  /** The first status of the answer when nothing stands before; 0 if there is none. */
  readonly status: number;
  /** The bytes ask for more to come, so that the gateway keeps the connection open. */
  readonly waits?: boolean;
}

const host = 'Host: app.test\r\n';
const smuggled = `GET /smuggled HTTP/1.1\r\n${host}X-Internal: 1\r\n\r\n`;
const toClosed = `GET /closed/smuggled HTTP/1.1\r\n${host}\r\n`;
const chunked = 'Transfer-Encoding: chunked\r\n';
const noChunks = '0\r\n\r\n';
const abc = '3\r\nabc\r\n0\r\n\r\n';

function post(headers: string, body: string, line = 'POST /form HTTP/1.1'): string {
  return `${line}\r\n${host}${headers}\r\n${body}`;
}

function get(headers: string, rest = '', line = 'GET /form HTTP/1.1'): string {
  return `${line}\r\n${host}${headers}\r\n${rest}`;
}

function withLength(length: string, body = `abc${smuggled}`): string {
  return post(`Content-Length:${length}\r\n`, body);
}

function withCoding(line: string, body = `${noChunks}${smuggled}`): string {
  return post(`${line}\r\n`, body);
}

function withChunks(body: string): string {
  return post(chunked, body);
}

const all = noChunks.length + smuggled.length;

const lengthsAndCodings: Record<string, SmugglingForm> = {
  'CL.TE': { bytes: post(`Content-Length: ${all}\r\n${chunked}`, noChunks + smuggled), status: 400 },
  'TE.CL': {
    bytes: post(`${chunked}Content-Length: 4\r\n`, `${smuggled.length.toString(16)}\r\n${smuggled}\r\n${noChunks}`),
    status: 400,
  },
  'CL.TE, to a protected route': {
    bytes: post(`Content-Length: ${noChunks.length + toClosed.length}\r\n${chunked}`, noChunks + toClosed),
    status: 400,
  },
  'CL of zero, TE': { bytes: post(`Content-Length: 0\r\n${chunked}`, abc), status: 400 },
  'CL, TE in lower case': {
    bytes: post(`content-length: 5\r\ntransfer-encoding: chunked\r\n`, noChunks + smuggled),
    status: 400,
  },
  'CL, TE identity': {
    bytes: post('Content-Length: 3\r\nTransfer-Encoding: identity\r\n', `abc${smuggled}`),
    status: 400,
  },
  'CL, unknown TE': {
    bytes: post('Content-Length: 3\r\nTransfer-Encoding: xchunked\r\n', `abc${smuggled}`),
    status: 400,
  },
  'CL, TE on GET': { bytes: get(`Content-Length: 5\r\n${chunked}`, noChunks + smuggled), status: 400 },
  'CL, TE in HTTP/1.0': {
    bytes: post(`Content-Length: 5\r\n${chunked}`, noChunks + smuggled, 'POST /form HTTP/1.0'),
    status: 400,
  },
  'CL, folded TE': {
    bytes: post('Content-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n', noChunks + smuggled),
    status: 400,
  },
  'CL, TE with an underscore': {
    bytes: post('Content-Length: 3\r\nTransfer_Encoding: chunked\r\n', 'abc'),
    status: 200,
  },
  'TE, CL with an underscore': { bytes: post(`${chunked}Content_Length: 50\r\n`, abc), status: 200 },
};

const lengths: Record<string, SmugglingForm> = {
  'two equal lengths': { bytes: post('Content-Length: 3\r\nContent-Length: 3\r\n', `abc${smuggled}`), status: 400 },
  'two lengths': { bytes: post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled), status: 400 },
  'two lengths, in other case': {
    bytes: post('Content-Length: 3\r\ncONTENT-lENGTH: 0\r\n', `abc${smuggled}`),
    status: 400,
  },
  'a list of equal lengths': { bytes: withLength(' 3, 3'), status: 400 },
  'a list of lengths': { bytes: withLength(' 3, 4'), status: 400 },
  'a plus sign': { bytes: withLength(' +3'), status: 400 },
  'a minus sign': { bytes: withLength(' -3'), status: 400 },
  'a hexadecimal length': { bytes: withLength(' 0x3'), status: 400 },
  'two numbers': { bytes: withLength(' 3 3'), status: 400 },
  'a semicolon': { bytes: withLength(' 3;'), status: 400 },
  'a fraction': { bytes: withLength(' 3.0'), status: 400 },
  'an exponent': { bytes: withLength(' 3e0'), status: 400 },
  'no length': { bytes: withLength(''), status: 400 },
  'a length in quotes': { bytes: withLength(' "3"'), status: 400 },
  'a length of other digits': { bytes: withLength(' \xef\xbc\x93'), status: 400 },
  'a length beyond 64 bits': { bytes: withLength(' 18446744073709551619'), status: 400 },
  'a length beyond 53 bits': { bytes: withLength(' 9007199254740993'), status: 400 },
  'a vertical tab behind a length': { bytes: withLength(' 3\x0b'), status: 400 },
  'a NUL behind a length': { bytes: withLength(' 3\0'), status: 400 },
  'a space before the colon of a length': { bytes: post('Content-Length : 3\r\n', `abc${smuggled}`), status: 400 },
  'a folded length': { bytes: withLength('\r\n 3'), status: 400 },
  'a length behind a fold': { bytes: post('X-A: 1\r\n Content-Length: 3\r\n', `abc${smuggled}`), status: 400 },
  'a length named by Connection': {
    bytes: post('Connection: content-length\r\nContent-Length: 3\r\n', 'abc'),
    status: 200,
  },
  'a request as the body of GET': { bytes: get(`Content-Length: ${smuggled.length}\r\n`, smuggled), status: 200 },
  'a request as the body of HEAD': {
    bytes: get(`Content-Length: ${smuggled.length}\r\n`, smuggled, 'HEAD /form HTTP/1.1'),
    status: 200,
  },
  'a request as a body': { bytes: post(`Content-Length: ${smuggled.length}\r\n`, smuggled), status: 200 },
  'a body that is too short': { bytes: post('Content-Length: 5000\r\n', smuggled), status: 0, waits: true },
  'a length with zeros in front': { bytes: withLength(' 0003', 'abc'), status: 200 },
};

const codings: Record<string, SmugglingForm> = {
  'chunked twice in a line': { bytes: withCoding('Transfer-Encoding: chunked, chunked'), status: 400 },
  'chunked in two lines': {
    bytes: withCoding('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    status: 400,
  },
  'chunked, then identity': { bytes: withCoding('Transfer-Encoding: chunked, identity'), status: 400 },
  'chunked and identity in two lines': {
    bytes: withCoding('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'),
    status: 400,
  },
  identity: { bytes: withCoding('Transfer-Encoding: identity'), status: 400 },
  'gzip, then chunked': { bytes: withCoding('Transfer-Encoding: gzip, chunked'), status: 400 },
  'a parameter': { bytes: withCoding('Transfer-Encoding: chunked;q=1'), status: 400 },
  'chunked in quotes': { bytes: withCoding('Transfer-Encoding: "chunked"'), status: 400 },
  'a vertical tab before chunked': { bytes: withCoding('Transfer-Encoding: \x0bchunked'), status: 400 },
  'a vertical tab behind chunked': { bytes: withCoding('Transfer-Encoding: chunked\x0b'), status: 400 },
  'a NUL behind chunked': { bytes: withCoding('Transfer-Encoding: chunked\0'), status: 400 },
  'a non-breaking space': { bytes: withCoding('Transfer-Encoding: \xa0chunked'), status: 400 },
  'a word before chunked': { bytes: withCoding('Transfer-Encoding: x chunked'), status: 400 },
  'a comma behind chunked': { bytes: withCoding('Transfer-Encoding: chunked,'), status: 400 },
  'a comma before chunked': { bytes: withCoding('Transfer-Encoding: ,chunked'), status: 400 },
  'an empty coding': { bytes: withCoding('Transfer-Encoding:'), status: 400 },
  'a space before the colon of a coding': { bytes: withCoding('Transfer-Encoding : chunked'), status: 400 },
  'a line break before the colon': { bytes: withCoding('Transfer-Encoding\r\n: chunked'), status: 400 },
  'a line break inside chunked': { bytes: withCoding('Transfer-Encoding: chun\r\n ked'), status: 400 },
  'a space before the name': { bytes: withCoding(' Transfer-Encoding: chunked'), status: 400 },
  'a byte order mark before the name': { bytes: withCoding('\xef\xbb\xbfTransfer-Encoding: chunked'), status: 400 },
  cow: { bytes: withCoding('Transfer-Encoding: cow'), status: 400 },
  'a coding named by Connection': { bytes: post(`Connection: transfer-encoding\r\n${chunked}`, abc), status: 200 },
  'chunked in capitals': { bytes: post('Transfer-Encoding: CHUNKED\r\n', abc), status: 200 },
  'a tab before chunked': { bytes: post('Transfer-Encoding:\tchunked\r\n', abc), status: 200 },
  'a coding as TE': { bytes: post('TE: chunked\r\nContent-Length: 3\r\n', 'abc'), status: 200 },
};

const lines: Record<string, SmugglingForm> = {
  'a folded header': { bytes: get('X-A: 1\r\n X-Internal: 1\r\n'), status: 400 },
  'a header folded by a tab': { bytes: get('X-A: 1\r\n\tX-Internal: 1\r\n'), status: 400 },
  'a folded first header': { bytes: `GET /form HTTP/1.1\r\n X-A: 1\r\n${host}\r\n`, status: 400 },
  'a folded host': { bytes: 'GET /form HTTP/1.1\r\nHost:\r\n app.test\r\n\r\n', status: 400 },
  'a bare line feed after the request line': { bytes: `GET /form HTTP/1.1\n${host}\r\n`, status: 400 },
  'a bare line feed after a header': { bytes: get('X-A: 1\nX-Internal: 1\r\n'), status: 400 },
  'bare line feeds at the end of the head': {
    bytes: `GET /form HTTP/1.1\r\n${host}X-A: 1\n\n${smuggled}`,
    status: 400,
  },
  'a bare line feed as the end of the head': { bytes: `GET /form HTTP/1.1\r\n${host}\n${smuggled}`, status: 400 },
  'a bare carriage return in a value': { bytes: get('X-A: 1\rX-Internal: 1\r\n'), status: 400 },
  'a bare carriage return before a header': { bytes: get('\rX-Internal: 1\r\n'), status: 400 },
  'two carriage returns': { bytes: get('X-A: 1\r\r\nX-Internal: 1\r\n'), status: 400 },
  'a NUL in a value': { bytes: get('X-A: 1\0\r\n'), status: 400 },
  'a NUL in a name': { bytes: get('X-Int\0ernal: 1\r\n'), status: 400 },
  'a NUL in the target': { bytes: get('', '', 'GET /form\0 HTTP/1.1'), status: 400 },
  'a DEL in a value': { bytes: get('X-A: 1\x7f\r\n'), status: 400 },
  'a letter beyond ASCII in a name': { bytes: get('X-Int\xe9rnal: 1\r\n'), status: 400 },
  'a header without a colon': { bytes: get('X-Internal\r\n'), status: 400 },
  'a header without a name': { bytes: get(': 1\r\n'), status: 400 },
  'a removed header in every spelling': {
    bytes: get(
      'X-Internal: 1\r\nx_internal: 1\r\nX.INTERNAL: 1\r\nX-Mixed-Name: 1\r\nx_mixed_name: 1\r\nX.Mixed-Name: 1\r\n',
    ),
    status: 200,
  },
  'a removed header behind Connection': {
    bytes: get('Connection: X-Internal, keep-alive\r\nX-Internal: 1\r\n'),
    status: 200,
  },
  'two hosts': { bytes: get('Host: other.test\r\n'), status: 400 },
  'no host': { bytes: 'GET /form HTTP/1.1\r\nX-A: 1\r\n\r\n', status: 400 },
};

const chunks: Record<string, SmugglingForm> = {
  'a hexadecimal mark': { bytes: withChunks(`0x3\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a plus sign before a size': { bytes: withChunks(`+3\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a minus sign before a size': { bytes: withChunks(`-3\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a space before a size': { bytes: withChunks(` 3\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a space behind a size': { bytes: withChunks(`3 \r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'zeros before a size': { bytes: withChunks(`00000003\r\nabc\r\n${noChunks}`), status: 200 },
  'a size beyond 64 bits': { bytes: withChunks(`10000000000000003\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'no size': { bytes: withChunks(`\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a size that is none': { bytes: withChunks(`g\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a bare line feed behind a size': { bytes: withChunks(`3\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a bare line feed behind a chunk': { bytes: withChunks(`3\r\nabc\n${noChunks}${smuggled}`), status: 0 },
  'a bare carriage return behind a size': { bytes: withChunks(`3\rabc\r\n${noChunks}${smuggled}`), status: 0 },
  'a chunk longer than its size': { bytes: withChunks(`3\r\nabcd\r\n${noChunks}${smuggled}`), status: 0 },
  'no line break behind a chunk': { bytes: withChunks(`3\r\nabc0\r\n\r\n${smuggled}`), status: 0 },
  extensions: { bytes: withChunks(`3;a=b;c="d"\r\nabc\r\n0;e\r\n\r\n`), status: 200 },
  'a line feed in an extension': { bytes: withChunks(`3;a\nb\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'line breaks in a quoted extension': { bytes: withChunks(`3;a="\r\nabc\r\n${noChunks}${smuggled}"`), status: 0 },
  'a carriage return in an extension': { bytes: withChunks(`3;a\rb\r\nabc\r\n${noChunks}${smuggled}`), status: 0 },
  'trailers that frame': { bytes: withChunks(`3\r\nabc\r\n0\r\nContent-Length: 50\r\n\r\n`), status: 0 },
  'trailers that must not pass': {
    bytes: withChunks(
      '3\r\nabc\r\n0\r\nX-Internal: 1\r\nx_mixed.name: 1\r\nHost: evil\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n',
    ),
    status: 200,
  },
  'a folded trailer': { bytes: withChunks(`3\r\nabc\r\n0\r\nX-A: 1\r\n b\r\n\r\n${smuggled}`), status: 0 },
  'a bare line feed behind a trailer': {
    bytes: withChunks(`3\r\nabc\r\n0\r\nX-A: 1\nX-B: 1\r\n\r\n${smuggled}`),
    status: 0,
  },
  'a request in place of trailers': { bytes: withChunks(`3\r\nabc\r\n0\r\n${smuggled}`), status: 0 },
  'chunks on GET': { bytes: get(chunked, abc), status: 200 },
  'a request in a chunk': {
    bytes: withChunks(`${smuggled.length.toString(16)}\r\n${smuggled}\r\n${noChunks}`),
    status: 200,
  },
  'chunks in HTTP/1.0': { bytes: post(chunked, abc, 'POST /form HTTP/1.0'), status: 400 },
  'chunks without an end': { bytes: withChunks(`3\r\nabc\r\n`), status: 0 },
};

const requestLines: Record<string, SmugglingForm> = {
  'HTTP/0.9 without a version': { bytes: get('', '', 'GET /form'), status: 505 },
  'HTTP/0.9': { bytes: get('', '', 'GET /form HTTP/0.9'), status: 505 },
  'HTTP/2.0': { bytes: get('', '', 'GET /form HTTP/2.0'), status: 505 },
  'HTTP/1.2': { bytes: get('', '', 'GET /form HTTP/1.2'), status: 400 },
  'HTTP/1.10': { bytes: get('', '', 'GET /form HTTP/1.10'), status: 400 },
  'HTTP in lower case': { bytes: get('', '', 'GET /form http/1.1'), status: 400 },
  RTSP: { bytes: get('', '', 'GET /form RTSP/1.0'), status: 400 },
  ICE: { bytes: get('', '', 'SOURCE /form ICE/1.0'), status: 400 },
  'two spaces behind the method': { bytes: get('', '', 'GET  /form HTTP/1.1'), status: 400 },
  'two spaces behind the target': { bytes: get('', '', 'GET /form  HTTP/1.1'), status: 400 },
  'a space in the target': { bytes: get('', '', 'GET /form /smuggled HTTP/1.1'), status: 400 },
  'a request in the target': { bytes: get('', '', `GET /form HTTP/1.1\r\n\r\nGET /closed HTTP/1.1`), status: 400 },
  'a method that Node does not know': { bytes: get('', '', 'FETCH /form HTTP/1.1'), status: 400 },
  'a method in lower case': { bytes: get('', '', 'get /form HTTP/1.1'), status: 400 },
  TRACE: { bytes: get('', '', 'TRACE /form HTTP/1.1'), status: 501 },
  CONNECT: { bytes: `CONNECT app.test:443 HTTP/1.1\r\n${host}\r\n${smuggled}`, status: 400 },
  'CONNECT with a path': { bytes: get('', smuggled, 'CONNECT /form HTTP/1.1'), status: 400 },
  'an absolute target': { bytes: get('', '', 'GET https://app.test/form HTTP/1.1'), status: 200 },
  'an absolute target for another host': {
    bytes: get('', '', 'GET https://other.test/smuggled HTTP/1.1'),
    status: 400,
  },
  'an absolute target with a user': {
    bytes: get('', '', 'GET https://app.test@other.test/smuggled HTTP/1.1'),
    status: 400,
  },
  'an absolute target of a protected route': {
    bytes: get('', '', 'GET https://app.test/closed/smuggled HTTP/1.1'),
    status: 403,
  },
  'an asterisk': { bytes: get('', '', 'OPTIONS * HTTP/1.1'), status: 400 },
  'a target that is no path': { bytes: get('', '', 'GET form HTTP/1.1'), status: 400 },
  'the start of HTTP/2': { bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 400 },
};

const changes: Record<string, SmugglingForm> = {
  'an upgrade to h2c': {
    bytes: get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n', smuggled),
    status: 400,
  },
  'an upgrade to h2c with a parameter': {
    bytes: get('Connection: Upgrade\r\nUpgrade: h2c;x\r\n', smuggled),
    status: 400,
  },
  'an upgrade to a draft of h2c': { bytes: get('Connection: Upgrade\r\nUpgrade: h2c-14\r\n', smuggled), status: 400 },
  'an upgrade that the upstream refuses': {
    bytes: get('Connection: Upgrade\r\nUpgrade: websocket\r\n', smuggled),
    status: 426,
  },
  'an upgrade with a body': {
    bytes: post(`Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    status: 400,
  },
  'an upgrade without Connection': { bytes: get('Upgrade: h2c\r\n'), status: 200 },
  'an upgrade of a protected route': {
    bytes: get('Connection: Upgrade\r\nUpgrade: websocket\r\n', smuggled, 'GET /closed/smuggled HTTP/1.1'),
    status: 403,
  },
  'an expectation with a body': { bytes: post('Expect: 100-continue\r\nContent-Length: 3\r\n', 'abc'), status: 100 },
  'an expectation without a body': { bytes: post('Expect: 100-continue\r\nContent-Length: 0\r\n', ''), status: 200 },
  'an expectation that cannot be met': {
    bytes: post('Expect: x\r\nContent-Length: 3\r\n', `abc${smuggled}`),
    status: 417,
  },
  'an expectation of a protected route': {
    bytes: post('Expect: 100-continue\r\nContent-Length: 3\r\n', `abc${smuggled}`, 'POST /closed/smuggled HTTP/1.1'),
    status: 403,
  },
  'an expectation whose body is a request': {
    bytes: post(`Expect: 100-continue\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    status: 100,
  },
  'two expectations': {
    bytes: post('Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 3\r\n', 'abc'),
    status: 100,
  },
  'a request behind one that closes': { bytes: get('Connection: close\r\n', smuggled), status: 200 },
  'a request behind one of HTTP/1.0': { bytes: get('', smuggled, 'GET /form HTTP/1.0'), status: 200 },
  'a protected route behind a plain request': { bytes: get('', toClosed), status: 200 },
  'bytes that are not HTTP behind a plain request': { bytes: get('', 'smuggled\r\n\r\n'), status: 200 },
};

/** All forms, by what they are about. */
export const smugglingForms: Readonly<Record<string, Readonly<Record<string, SmugglingForm>>>> = {
  'a length and a coding': lengthsAndCodings,
  'a length': lengths,
  'a coding': codings,
  'a line': lines,
  'a chunk': chunks,
  'a request line': requestLines,
  'a change of protocol or a request behind another': changes,
};
