#!/usr/bin/perl
# A solver as a process, in Perl without any module: projected Jacobi for boxes and bounds that follow another unknown.
#
#     stickslip solve frames.h5 --formulation box --solver-command ./damped_jacobi.pl
#
# docs/pipe.md has the protocol: words of 8 bytes, little-endian; "q<" and "d<" of pack. Print to standard error only.
use strict;
use warnings;

my ($FREE, $BOX, $COUPLED, $DENSE, $DAMPING) = (1, 2, 4, 0, 0.5);
binmode STDIN;
binmode STDOUT;
$| = 1;

sub send_message {
    my ($kind, $payload) = @_;
    print STDOUT pack("a8 q<", $kind, length $payload), $payload;
}

sub read_bytes {
    my ($size) = @_;
    my $bytes = "";
    while (length($bytes) < $size) {
        read(STDIN, $bytes, $size - length($bytes), length $bytes) or exit 0;    # nothing is left to do
    }
    return $bytes;
}

sub receive_message {
    my ($kind, $size) = unpack("Z8 q<", read_bytes(16));
    return ($kind, $size ? read_bytes($size) : "");
}

sub solve {
    my ($payload) = @_;
    my ($n, $blocks, undef, undef, undef, $iterations) = unpack("q<6", $payload);
    my $at = 8 * 8;
    my $take = sub {
        my ($kind, $count) = @_;
        my @values = $count ? unpack("x$at $kind<$count", $payload) : ();
        $at += 8 * $count;
        return @values;
    };
    my @b = $take->("d", $n);
    my @lower = $take->("d", $n);
    my @upper = $take->("d", $n);
    my @partner = $take->("q", $n);
    my @factor = $take->("d", $n);
    my @x = $take->("d", $n);
    my @law;
    for (1 .. $blocks) {
        my ($law, $first, $size) = $take->("q", 3);
        $take->("d", 2), $take->("q", 2);    # mu, mu_rolling, contact, constraint
        $law[$_] = $law for $first .. $first + $size - 1;
    }
    my @rows = map { [$take->("d", $n)] } 1 .. $n;    # dense, row by row

    # The step of a row: with the sum of its entries, every problem with a symmetric matrix converges.
    my @step = map { my $sum = 0; $sum += abs for @{ $rows[$_] }; $sum > 0 ? $DAMPING / $sum : 0 } 0 .. $n - 1;
    while (1) {
        my @new;
        for my $i (0 .. $n - 1) {
            my $w = $b[$i];
            my $row = $rows[$i];
            $w += $row->[$_] * $x[$_] for 0 .. $n - 1;
            $new[$i] = $x[$i] - $step[$i] * $w;
        }
        for my $i (0 .. $n - 1) {
            my ($low, $high) = ($lower[$i], $upper[$i]);
            if ($law[$i] == $COUPLED) {
                my $bound = $factor[$i] * abs $x[$partner[$i]];
                $low = -$bound if $low < -$bound;
                $high = $bound if $high > $bound;
            }
            $x[$i] = $new[$i] < $low ? $low : $new[$i] > $high ? $high : $new[$i];
        }
        send_message("ITERATE", pack("d<*", @x));
        my ($answer) = receive_message();
        last if $answer eq "STOP";
    }
    send_message("DONE", pack("q< d<$n q<", 0, @x, 0));
}

while (1) {
    my ($kind, $payload) = receive_message();
    if ($kind eq "HELLO") {
        send_message("HELLO", pack("q<4", 1, $FREE | $BOX | $COUPLED, 0, $DENSE));
    } elsif ($kind eq "PROBLEM") {
        solve($payload);
    }
}
