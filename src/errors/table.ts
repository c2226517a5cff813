interface ErrorEntry {
  readonly status: number;
  /** Told to the caller; words in braces are filled in. Says what is wrong, with which value, and what to do. */
  readonly message: string;
}

/**
 * Every error the service can answer, by its number. Numbers below 20000 are those of the public service where one fits;
 * our own start at 20000. `docs/errors.md` is generated from this table.
 */
export const errorTable = {
  // Authentication and access
  200: {
    status: 401,
    message: 'No Authorization header was sent. Send "Authorization: Bearer <token>" with the token of an API key.',
  },
  201: {
    status: 401,
    message:
      'The Authorization header is not of the form "Bearer <token>". Send the scheme "Bearer", one space and the token of an API key.',
  },
  202: {
    status: 401,
    message:
      'The bearer value does not have the shape of an API key token. Send the whole token as it was shown when the key was created.',
  },
  203: {
    status: 401,
    message:
      'The API key token is unknown or has been revoked. Check that the whole token is sent, or create a new key with one that works.',
  },
  208: {
    status: 401,
    message:
      'The bearer value is the id of an API key, not its token. The token was shown once, when the key was created; if it is lost, create a new key.',
  },
  220: {
    status: 403,
    message:
      'Calls from {address} are refused by the IP restriction {restriction} of this account. Call from an address its IP policies allow, or ask an administrator to change them; on the host, "gatehouse restrictions disable {restriction}" lifts it.',
  },
  226: {
    status: 429,
    message: 'This account made more than {limit} calls within a minute. Wait {seconds} seconds and try again.',
  },
  630: {
    status: 403,
    message:
      'Only an admin may create an API key for another owner ({owner}). Leave owner_id out to own the key yourself, or ask an admin.',
  },
  634: {
    status: 400,
    message:
      'owner_id {owner} is not a user or bot of this account. Give the id of an existing one, or leave owner_id out.',
  },
  636: {
    status: 403,
    message:
      'The owner of this API key, {owner}, is inactive. Ask an admin to activate it, or use a key of another owner.',
  },
  20006: {
    status: 403,
    message: 'The API key {key} belongs to {owner}. Only its owner or an admin may update or delete it.',
  },
  20007: {
    status: 403,
    message: 'Only an admin may {action}. Use an API key whose owner is an admin.',
  },
  20022: {
    status: 400,
    message: 'The owner {owner} is inactive. Activate it first, or choose another owner.',
  },

  // The form of a request
  210: {
    status: 415,
    message: 'The {header} {value} is not supported. Send the body as application/json, as it is.',
  },
  211: {
    status: 400,
    message: '{method} {path} takes no body. Send the request without one.',
  },
  212: { status: 400, message: 'The request body could not be read completely. Send it again.' },
  213: { status: 400, message: 'The request body cannot be read: {reason}. Correct it and send it again.' },
  214: {
    status: 400,
    message: 'Unknown field {field}. The known ones are: {known}.',
  },
  215: { status: 400, message: 'The value of {field} is not acceptable: it {reason}.' },
  216: {
    status: 415,
    message: 'The request has a body but no Content-Type. Send "Content-Type: application/json".',
  },
  217: {
    status: 400,
    message: 'The version {value} in the header {header} is not supported. Send "{header}: 2".',
  },
  218: { status: 400, message: 'The version header is missing. Send "{header}: 2".' },
  222: { status: 404, message: 'There is no {noun} with the id {id}. Check the id, or list them to see which exist.' },
  1404: { status: 404, message: 'There is no {noun} with the id {id}. Check the id, or list them to see which exist.' },
  6514: { status: 404, message: 'There is no {noun} with the id {id}. Check the id, or list them to see which exist.' },
  7000: { status: 404, message: 'There is no {noun} with the id {id}. Check the id, or list them to see which exist.' },
  7124: {
    status: 404,
    message: 'There is no {noun} with the id {id}. Check the id, or read the edge to see its routes.',
  },
  227: {
    status: 400,
    message: '{field} {id} is not an id of the expected kind: it must be "{prefix}_" followed by letters and digits.',
  },
  229: { status: 400, message: '{field} holds {id}, which is not the id of an IP policy: it must start with "ipp_".' },
  230: { status: 400, message: 'The query string cannot be parsed: {reason}.' },
  231: { status: 400, message: 'Unknown query parameter {name}. This call takes: {known}.' },
  232: { status: 400, message: 'The query parameter {name} is given more than once. Give it once.' },
  233: { status: 400, message: 'The limit {limit} is out of range. Give a number from 1 to 100.' },
  241: { status: 400, message: '{value} is not a time in RFC 3339 form, such as 2026-11-14T10:11:14Z.' },
  242: { status: 400, message: '{field} {id} is not the id of a backend: it must start with "bkdsc_".' },
  243: { status: 400, message: '{field} {id} is not of the expected kind: it must start with one of: {prefixes}.' },
  244: { status: 400, message: 'The limit {limit} is not a whole number. Give one from 1 to 100.' },
  604: {
    status: 400,
    message: 'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
  },
  605: {
    status: 400,
    message: 'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
  },
  1421: {
    status: 400,
    message: 'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
  },
  1916: {
    status: 400,
    message: 'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
  },
  1917: {
    status: 400,
    message: 'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
  },
  6503: {
    status: 400,
    message: 'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
  },
  6504: {
    status: 400,
    message: 'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
  },
  7073: {
    status: 400,
    message: 'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
  },
  7074: {
    status: 400,
    message: 'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
  },
  20001: { status: 404, message: 'There is nothing at {path}. Check the path; a trailing slash counts.' },
  20002: { status: 405, message: '{method} is not possible at {path}. Possible: {allowed}.' },
  20003: { status: 413, message: 'The request body is larger than {limit} bytes. Send less at once.' },
  20008: { status: 404, message: 'The module {module} is not set on {id}. Set it with PUT on the same path.' },
  20009: { status: 400, message: '{field} names {id} more than once. Name each once.' },
  20010: {
    status: 400,
    message: 'The value of {field} is not valid Unicode text (it has a lone surrogate). Send it in UTF-8.',
  },
  20011: {
    status: 400,
    message: '{field} is too long: {bytes} bytes, where {limit} are allowed (in UTF-8). Shorten it.',
  },
  20012: { status: 400, message: 'The field {field} is required. Send it in the body.' },
  20015: {
    status: 400,
    message:
      'The field {field} is {given} in the body and {path} in the path. Leave it out of the body, or make them equal.',
  },
  20019: {
    status: 409,
    message: 'Another change came first and this one no longer fits. Read the resource and try again.',
  },
  20020: {
    status: 412,
    message:
      'The resource is no longer what If-Match names. Its tag now is {current}. Read it again, then repeat the change.',
  },
  20041: {
    status: 400,
    message: 'The Idempotency-Key is not acceptable. Send 1 to 255 printable ASCII characters without spaces.',
  },
  20042: {
    status: 409,
    message:
      'This Idempotency-Key was used for another request within the last 24 hours. Use a new key for each new request.',
  },
  20024: { status: 400, message: 'The request could not be understood as HTTP: {reason}.' },
  20025: { status: 431, message: 'The request headers are too large. Send fewer or shorter headers.' },
  20026: { status: 408, message: 'The request was not complete in time. Send it again.' },

  // Bots
  4109: { status: 400, message: 'The name of a bot must not be empty. Give it a name.' },
  4110: { status: 400, message: 'The name is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.' },
  4111: {
    status: 403,
    message: 'Only an admin may create, change or delete bots. Use an API key whose owner is an admin.',
  },
  4112: { status: 409, message: 'A bot named {name} exists already in this account ({id}). Choose another name.' },

  // IP policies and rules
  1402: { status: 400, message: 'There is no IP policy {id} in this account. Give the id of an existing one.' },
  1405: { status: 400, message: 'The field {field} of an IP policy rule is required. Send it in the body.' },
  1406: { status: 400, message: '{cidr} is not a CIDR: {reason}. Write it like 203.0.113.0/24 or 2001:db8::/32.' },
  1408: {
    status: 409,
    message: 'The IP policy {policy} already has a rule for {cidr} ({rule}). Change or delete that one first.',
  },
  1409: { status: 400, message: '{cidr} is not the first address of its range. Did you mean {suggestion}?' },
  1411: {
    status: 400,
    message: 'A policy takes at most {limit} rules in one call, not {count}. Spread them over several policies.',
  },
  1413: { status: 400, message: '{cidr} has no mask. Did you mean {suggestion}?' },
  1414: { status: 400, message: 'ip_policy_id {id} is not the id of an IP policy: it must start with "ipp_".' },
  1420: {
    status: 409,
    message: 'The IP policy {policy} is still used by {users}. Take it out of these first, then delete it.',
  },
  1422: { status: 400, message: 'The action {action} is unknown. Give "allow" or "deny".' },
  20016: { status: 400, message: 'Line {line} of the rule list: {reason}' },

  // IP restrictions
  1801: { status: 400, message: 'There is no IP policy {id} in this account. Give the ids of existing ones.' },
  1803: { status: 400, message: 'The type {type} is unknown. Give one of: dashboard, api, agent, endpoints.' },
  1804: { status: 400, message: 'An IP restriction needs at least one IP policy. Give their ids in ip_policy_ids.' },
  20005: {
    status: 409,
    message:
      'This change would lock you out: your next call from {address} would be refused by {restriction}. Allow your address first, or repeat the call with the header "Gatehouse-Allow-Lockout: true" if you mean it.',
  },

  20032: {
    status: 400,
    message: 'Give exactly one of type, edge_id and route_id: what the address is to be tried against.',
  },
  20033: {
    status: 400,
    message: 'The ip {ip} is not an IPv4 or IPv6 address. Write it like 203.0.113.7 or 2001:db8::1.',
  },

  // Backends
  6501: { status: 400, message: 'There is no backend {id} in this account. Give the id of an existing one.' },
  6505: { status: 400, message: 'A static backend needs an address. Give it as host:port.' },
  6506: { status: 400, message: 'The address {address} is not of the form host:port: {reason}.' },
  6507: { status: 400, message: 'The address {address} has no host. Give it as host:port.' },
  20013: {
    status: 409,
    message: 'The backend {backend} is still used by {users}. Give these another backend first, then delete it.',
  },

  // Edges, routes and their modules
  7007: {
    status: 400,
    message: 'There is no IP policy {id} in this account. Give the ids of existing ones in ip_policy_ids.',
  },
  7013: {
    status: 400,
    message: 'The module names {count} IP policies, where {limit} are allowed. Put more rules into fewer policies.',
  },
  7015: { status: 400, message: 'The module {field}s {count} headers, where {limit} are allowed. Name fewer.' },
  7023: { status: 400, message: 'The header name {name} is not acceptable: {reason}.' },
  7024: { status: 400, message: 'The value of the header {name} is not acceptable: {reason}.' },
  7025: {
    status: 400,
    message: 'The IP restriction module needs at least one IP policy. Give their ids in ip_policy_ids.',
  },
  7069: {
    status: 400,
    message: 'The header {name} is given twice, in different case. Header names do not depend on case: give it once.',
  },
  7104: { status: 400, message: 'The hostport {hostport} is not of the form host:port: {reason}.' },
  7105: { status: 400, message: 'The header name {name} is too long: {bytes} bytes, where {limit} are allowed.' },
  7106: {
    status: 400,
    message: 'The value of the header {name} is too long: {bytes} bytes, where {limit} are allowed.',
  },
  7112: { status: 400, message: 'The port {port} of {hostport} is not a port: give a number from 1 to 65535.' },
  7116: { status: 400, message: 'The hostport {hostport} must use port {port}.' },
  7122: {
    status: 409,
    message: '{hostport} belongs to another edge{edge}. Take it from that edge first, or choose another.',
  },
  7123: { status: 400, message: 'A route needs a match. Give a path that starts with "/".' },
  7126: {
    status: 409,
    message: 'The edge {edge} already has a route for {match} ({route}). Change or delete that one first.',
  },
  7129: {
    status: 400,
    message: 'The edge has {count} hostports, where {limit} are allowed. Spread them over several edges.',
  },
  7130: { status: 400, message: 'The match_type {type} is unknown. Give "path_prefix" or "exact_path".' },
  7131: { status: 400, message: 'The match {match} is not acceptable: {reason}.' },
  7135: { status: 400, message: 'The match is too long: {bytes} bytes, where {limit} are allowed. Shorten it.' },
  7164: {
    status: 400,
    message: 'The header "host" can be removed only together with an added one: upstreams need it. Add "host" too.',
  },
  20014: {
    status: 400,
    message:
      'The port {port} of {hostport} is not among the ports of this installation ({ports}). Choose one of these, or change the setting tcp_ports on the host.',
  },
  20017: {
    status: 400,
    message: 'The header {name} cannot be {verb}: it belongs to the connection and is set by the gateway itself.',
  },
  20030: {
    status: 409,
    message:
      '{hostport} overlaps with a host name of another account (a wildcard covers all names one label below it). Choose another host name.',
  },
  20031: {
    status: 400,
    message: 'Both {first} and {second} name the port {port}. An edge listens on a port once: give one of them.',
  },
  20018: { status: 400, message: 'The backend module needs a backend. Give its id in backend_id.' },

  // TLS certificates
  1900: { status: 400, message: 'The certificate cannot be read: {reason}.' },
  1901: { status: 400, message: 'private_key_pem is missing. Send the private key that belongs to the certificate.' },
  1902: { status: 400, message: 'The private key is encrypted. Send it without a passphrase.' },
  1903: { status: 400, message: 'The private key cannot be read: {reason}.' },
  1911: { status: 400, message: '{field} holds a PEM block of type {type}. Send {expected} blocks.' },
  1919: { status: 400, message: 'certificate_pem is missing. Send the certificate chain, leaf first.' },
  1920: { status: 400, message: '{field} is not PEM. Send text that starts with "-----BEGIN".' },
  1921: { status: 400, message: '{field} is too large: {bytes} bytes, where {limit} are allowed.' },
  1922: { status: 400, message: 'No certificate was found in certificate_pem.' },
  1923: {
    status: 400,
    message: 'The private key does not belong to the certificate. Send the pair that was made together.',
  },
  1924: {
    status: 400,
    message: 'certificate_pem holds a private key. Send the certificate there and the key in private_key_pem.',
  },
  1926: {
    status: 400,
    message:
      'The certificates are not in order: number {position} did not issue the one before it. Send the leaf first, then each issuer.',
  },

  // Traffic
  3003: {
    status: 421,
    message: 'The TLS connection named {sni}, the request {host}. Use one connection for each host.',
  },
  3004: { status: 502, message: 'The upstream server did not answer with valid HTTP.' },
  3005: { status: 504, message: 'The upstream server did not accept the connection in time.' },
  3006: { status: 502, message: 'The upstream server refused the connection.' },
  3007: { status: 502, message: 'The connection to the upstream server broke before the answer was complete.' },
  3008: { status: 504, message: 'The upstream server did not answer in time.' },
  3200: { status: 404, message: 'Nothing is served at {host}.' },
  3203: { status: 403, message: 'Your address {address} is not allowed here (IP restriction of this edge).' },
  3205: { status: 403, message: 'Your address {address} is not allowed here (IP restriction of this account).' },
  6528: { status: 503, message: 'There is no backend behind {host}{path} at the moment.' },
  20100: { status: 404, message: 'No route of {host} matches the path {path}.' },
  20101: { status: 400, message: 'The request path is not acceptable: {reason}.' },
  20102: { status: 400, message: 'The request is not acceptable: {reason}.' },
  20103: { status: 417, message: 'The expectation {expectation} cannot be met.' },

  // Ours
  20000: {
    status: 500,
    message: 'Something went wrong on our side. The operation id names it in the log of the server.',
  },
  20004: { status: 503, message: 'The service is not ready: {reason}. Try again shortly.' },
} as const satisfies Readonly<Record<number, ErrorEntry>>;
