"""Privacy accounting: from a draw of noise to a number that is never below the truth.

In reading order; proof.md says what each claims, why it holds and which tests attack it.

    cost, need, leaves     what is declared, what will be drawn, the worst pair behind each draw
    exact                  rational numbers: text, rounding, roots, sums
    ball_arithmetic        real functions, enclosed

    convert                one draw in eps, rho or mu squared: C1 to C8, C12 to C14
    profiles               one draw's delta at an eps, and back: C9 to C11
    group                  a person with several rows
    compose                several draws: sums, sites, the least of all bounds

    dominating_pairs       which pairs of laws one person may meet
    discretise, pld        the privacy loss of one draw on a grid; of several together
    grid_eps, grid_power   eps at a delta, and the power of tests, from losses on a grid
    gaussian_fit           whether draws together are mu-GDP
    joint, joint_total     the least such mu of one source's draws; of all draws of a plan

    targets, inverse       from a cost to a parameter; to noise scales
    shares, noise_scaling  parts of a budget; all noise made larger by one factor

    tradeoff, zcdp_power   the power of tests in closed form; under rho alone
    risk                   what an attacker can learn of one person
"""
