% Frames: made by hand, written, read back by load and by ss_read, checked.
frame = slope_frame();
file = fullfile(getenv('SS_SCRATCH'), 'frames.h5');

% What ss_read shows is what load shows, and the mark that says it is repaired.
second = frame;
second.time = 0.25;
second.contacts.restitution = 0.1 * (1:4);
second.contacts.t_u = [1 1 1 1; 0 0 0 0; 0 0 0 0];
second.bodies.ids = int32(7);
second.contacts.pairs = [-1 -1 -1 -1; 7 7 7 7];
ss_write(file, {frame, second}, 'manifest', struct('toolkit', 'a test', 'gravity', [0 0 -9.81]));
ours = ss_read(file);
plain = load(file);
assert(isequal(fieldnames(ours), {'simulation_000001'}));
names = {'mbs_frame000001', 'mbs_frame000002'};
for i = 1:2
  assert(isequal(rmfield(ours.simulation_000001.(names{i}), 'dialect'), plain.simulation_000001.(names{i})));
end
assert(isequal(ours.simulation_000001.manifest.toolkit, 'a test'));
assert(isequal(ours.simulation_000001.manifest.gravity(:), [0; 0; -9.81]));
assert(isequal(ss_read(file, 2), ours.simulation_000001.mbs_frame000002));
assert(isequal(ss_read(file, 'simulation_000001/mbs_frame000002'), ours.simulation_000001.mbs_frame000002));

% What was read can be written again: the same frames in the same order.
copy = fullfile(getenv('SS_SCRATCH'), 'copy.h5');
ss_write(copy, ours);
assert(isequal(ss_read(copy), ours));
ss_write(copy, plain);
assert(isequal(rmfield(ss_read(copy, 2), 'dialect'), plain.simulation_000001.mbs_frame000002));
ss_convert(file, copy, 'to', 'flat');
flat = ss_read(copy);
assert(isequal(fieldnames(flat), {'mbs_frame000001'; 'mbs_frame000002'}));
assert(isequal(flat.mbs_frame000001.contacts.gaps, frame.contacts.gaps));

% Both give the same frame to the library, and so does the struct it came from.
same = {frame, ours.simulation_000001.mbs_frame000001, plain.simulation_000001.mbs_frame000001};
for i = 1:3
  summary = ss_info(same{i});
  hash{i} = summary.hash;
end
assert(isequal(hash{1}, hash{2}) && isequal(hash{1}, hash{3}));
assert(summary.contacts == 4 && summary.total_mass == 1 && summary.h == 0.01);

% Six numbers per body may stand in columns, too, and classes do not matter.
other = frame;
other.bodies.velocities = single(zeros(6, 1));
other.contacts.pairs = double(other.contacts.pairs);
other.bodies.masses = int8(1);
summary = ss_info(other);
assert(isequal(summary.hash, hash{1}));

% Faults are errors that name the place; with a second output they are a list.
wrong = frame;
wrong.contacts.normals(3, 2) = 2;
throws(@() ss_solve(wrong), 'contacts/normals\[1\]: length 2');
[repaired, findings] = ss_frame(wrong);
assert(any(strcmp({findings.kind}, 'fault')));
assert(~ss_check(wrong) && ss_check(frame) && ss_check(file));
wrong = frame;
wrong.contacts.gaps(4) = [];
throws(@() ss_solve(wrong), 'contacts/.*expected.*transposed');
wrong = rmfield(frame, 'timestep');
throws(@() ss_solve(wrong), 'timestep is missing');
assert(isequal(ss_frame(wrong, 'timestep', 0.01), ss_frame(frame)));
wrong = frame;
wrong.bodies.masses = 1i;
throws(@() ss_solve(wrong), 'bodies/masses: expected real');
wrong = frame;
wrong.contacts.pairs(2, 1) = 5;
throws(@() ss_solve(wrong), 'contacts/pairs');
wrong = frame;
wrong.dialect = 'klingon';
throws(@() ss_solve(wrong), 'dialect');
throws(@() ss_solve(3), 'expected a frame');
throws(@() ss_read('/nonexistent.h5'), 'nonexistent');
throws(@() ss_read(file, 3), 'frame: 3, expected a whole number from 1 to 2');
throws(@() ss_read(file, 'mbs_frame000009'), 'no frame');

% A file that cannot be written whole is not written at all.
before = ss_read(file);
wrong = frame;
wrong.bodies.masses = -1;
throws(@() ss_write(file, {frame, wrong}), 'bodies/masses');
assert(isequal(ss_read(file), before));
ss_write(file, frame, 'append', true);
assert(isequal(fieldnames(ss_read(file)), {'simulation_000001'; 'simulation_000002'}));

% Handles that are no longer there.
throws(@() stickslip_mex('file_index', 99), 'not the handle');
throws(@() stickslip_mex('nonsense'), 'unknown command');
