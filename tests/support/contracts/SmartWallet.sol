// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A wallet that is a contract: it says itself which signatures are its own (ERC-1271), here those of one key.
contract SmartWallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Puts wallets where their address says they will be, so that they can sign before they exist (ERC-6492).
contract SmartWalletFactory {
    function deploy(address owner, bytes32 salt) external returns (address) {
        address wallet = addressOf(owner, salt);
        if (wallet.code.length > 0) return wallet;
        return address(new SmartWallet{salt: salt}(owner));
    }

    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
