// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// As much of ERC-20 as a gate reads; anyone may set any balance.
contract GatingToken {
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function setBalance(address account, uint256 balance) external {
        balanceOf[account] = balance;
    }
}

/// Says no to every call.
contract RevertingToken {
    function balanceOf(address) external pure returns (uint256) {
        revert("no");
    }
}

/// Answers more, and less, than a number.
contract TalkativeToken {
    function balanceOf(address) external pure returns (uint256, uint256) {
        return (type(uint256).max, 1);
    }
}

contract TerseToken {
    fallback() external {
        assembly {
            mstore8(0, 0xff)
            return(0, 1)
        }
    }
}
