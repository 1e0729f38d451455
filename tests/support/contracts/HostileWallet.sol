// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A wallet that answers a question with an address to be fetched (ERC-3668), to see who would fetch it.
contract CuriousWallet {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    string private url;

    constructor(string memory url_) {
        url = url_;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", this.isValidSignature.selector, "");
    }
}

/// A wallet that computes for as long as it may.
contract EndlessWallet {
    function isValidSignature(bytes32 hash, bytes calldata) external pure returns (bytes4) {
        while (true) hash = keccak256(abi.encode(hash));
        return 0x1626ba7e;
    }
}

/// A wallet that says yes in the wrong words.
contract AgreeableWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bool) {
        return true;
    }
}
