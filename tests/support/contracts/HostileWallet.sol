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

/// A wallet that says yes to everything, like some that are deployed by mistake.
contract YesWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

/// A factory as an attacker names it in a signature: it deploys wallets that say yes, and answers like one itself.
contract HostileFactory {
    event Deployed(address wallet);

    function deploy(bytes32 salt) external returns (address wallet) {
        wallet = address(new YesWallet{salt: salt}());
        emit Deployed(wallet);
    }

    function addressOf(bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(type(YesWallet).creationCode);
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }

    fallback(bytes calldata) external payable returns (bytes memory) {
        return abi.encode(bytes4(0x1626ba7e));
    }
}
