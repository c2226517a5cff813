export interface HeaderName {
  readonly shown: string;
  /** In lower case, as requests have them. */
  readonly key: string;
}

/** Header names and prefixes that carry a vendor's name. They depend on the setting `vendor` alone. */
export interface VendorWords {
  /** Headers by which a caller may send the version; the first is ours. */
  readonly versionHeaders: readonly HeaderName[];
  /** Headers in which every answer carries its operation id, in lower case: so the framework need not convert them. */
  readonly operationHeaders: readonly string[];
  /** `ERR_GATEHOUSE_` in front of an error's number. */
  readonly errorPrefix: string;
}

export function vendorWords(vendor: string | undefined): VendorWords {
  if (vendor === undefined) {
    return {
      versionHeaders: [headerName('Service-Version')],
      operationHeaders: ['gatehouse-operation-id'],
      errorPrefix: 'ERR_GATEHOUSE_',
    };
  }
  const capitalized = `${vendor.charAt(0).toUpperCase()}${vendor.slice(1)}`;
  return {
    versionHeaders: [headerName('Service-Version'), headerName(`${capitalized}-Version`)],
    operationHeaders: ['gatehouse-operation-id', `${vendor}-operation-id`],
    errorPrefix: `ERR_${vendor.toUpperCase()}_`,
  };
}

function headerName(shown: string): HeaderName {
  return { shown, key: shown.toLowerCase() };
}
